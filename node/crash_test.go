//go:build unix

package node_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// The crash tests run a node as a separate process: this test binary again. A party kills itself
// with SIGKILL at a milestone; an aggregator is killed from outside.
const (
	partyEnv      = "COSKETCH_TEST_PARTY"
	aggregatorEnv = "COSKETCH_TEST_AGGREGATOR"
)

func TestMain(m *testing.M) {
	for env, node := range map[string]func([]string) error{partyEnv: crashingParty, aggregatorEnv: separateAggregator} {
		if args := os.Getenv(env); args != "" {
			if err := node(strings.Split(args, "\n")); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	full.Main(m)
}

// separateAggregator serves until it is killed: args are state directory and
// listen address.
func separateAggregator(args []string) error {
	st, err := store.Open(args[0], store.Aggregator, store.Options{})
	if err != nil {
		return err
	}
	defer st.Close()
	a, err := aggregator.New(aggregator.Options{Env: node.AggregatorEnv{Now: now}, Store: st, Listen: []string{args[1]}, Tick: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	return a.Serve(context.Background())
}

// crashingParty serves a study, or makes a query about a file, and dies where told to. args are
// state directory, site file, study id, a point ("" for none) and the file, if any.
func crashingParty(args []string) error {
	id, err := protocol.ParseStudyID(args[2])
	if err != nil {
		return err
	}
	st, err := store.Open(args[0], store.Party, store.Options{})
	if err != nil {
		return err
	}
	defer st.Close()
	p, err := party.New(partyOptions(st, args[1], func(p event.Progress) {
		if point(p) == args[3] {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is on its way
		}
	}, slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	defer p.Close()
	if len(args) == 5 {
		_, err := p.Ask(context.Background(), id, party.Question{Files: args[4:]})
		return err
	}
	return p.Run(context.Background(), id)
}

// point names a moment in a party's run, as in "persisted share".
func point(p event.Progress) string {
	return strings.TrimSpace(string(p.Milestone) + " " + string(p.Kind))
}

// process runs party a in a separate process; with a file, to make a query about it.
func (b *bench) process(ctx context.Context, dieAt string, file ...string) error {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), partyEnv+"="+strings.Join(append([]string{b.path("a"), b.path("a.yaml"), b.study.ID.String(), dieAt}, file...), "\n"))
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

func killed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// killing serves a study with parties b and c here, and party a in separate processes. die starts
// one that is killed at a point. finish starts one that completes the study, and checks that the
// earlier stored release has not changed.
func (b *bench) killing() (die func(at string), finish func(before [][]byte)) {
	b.t.Helper()
	ctx := b.context()
	stop := b.serve()
	b.t.Cleanup(stop)
	others := make(chan struct{})
	go func() { defer close(others); b.runAll(ctx, "b", "c") }()
	die = func(at string) {
		b.t.Helper()
		if err := b.process(ctx, at); !killed(err) {
			b.t.Fatalf("the party was to die at %q, and ended with: %v", at, err)
		}
	}
	finish = func(before [][]byte) {
		b.t.Helper()
		check(b.t, b.process(ctx, ""))
		<-others
		stop()
		b.verify(before)
	}
	return die, finish
}

// bigSketch is so wide that a release takes two chunks.
var bigSketch = terms{
	sketches: "[{side: columns, family: sparse, k: 1048576, s: 1, helpers: {ones: 1}}]",
	privacy:  "{unit: attribute, mechanism: laplace, epsilon: 1}",
	analyses: "[{kind: correlation}]",
}

// A party killed at any point finishes the study after a restart, with one debit. The aggregator
// received what the party stored.
func TestPartySurvivesSIGKILL(t *testing.T) {
	for _, at := range full.Or(
		[]string{"checked", "persisted approve", "debited", "persisted release", "uploaded", "finished"}, // besides those of TestPartySurvivesEveryKillInOneStudy
		[]string{
			"checked", "persisted approve", "persisted commit", "persisted share", "persisted confirm",
			"projected", "debited", "stored", "persisted release", "uploading", "uploaded", "finished",
		},
	) {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			w := bigSketch
			if at != "uploading" {
				w.sketches = "[{side: columns, family: sparse, k: 64, s: 1, helpers: {ones: 1}}]"
			}
			b := newBench(t, w, uniform(50))
			die, finish := b.killing()
			die(at)
			before := b.stored()
			finish(before)
		})
	}
}

// A party that takes a first look at its data, and is killed on the way, debits once. Its release
// depends on the look that it stored.
func TestStandardisingPartySurvivesSIGKILL(t *testing.T) {
	for _, at := range full.Or([]string{"debited", "stored"}, []string{"debited", "projected", "stored"}) {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, ownSketch, uniform(50))
			die, finish := b.killing()
			die(at)
			before := b.stored()
			st := b.open("a")
			data, err := st.Look(b.study.ID)
			if (err == nil) != (at != "debited") {
				t.Errorf("killed when %s, it has a look of %d bytes, %v", at, len(data), err)
			}
			check(t, st.Close())
			finish(before)
			look, err := release.DecodeLook(data)
			check(t, err)
			if at == "debited" {
				return
			}
			entries := b.stored()[1]
			width := len(entries) / (64 + study.OwnRows) / 2
			var centre int64
			for i, part := range entries[:width] {
				centre |= int64(part) << (8 * i)
			}
			if centre != look[0].Centre {
				t.Errorf("its release is about %d, the look that it stored about %d", centre, look[0].Centre)
			}
		})
	}
}

// A stored look does not count as a debit. A damaged one is reported plainly: the party neither
// uses it for a release nor takes another.
func TestStoredLookIsHeldAgainstTheLedger(t *testing.T) {
	t.Parallel()
	looked := func(t *testing.T, damage func([]byte) []byte) *bench {
		b := newBench(t, ownSketch, uniform(50))
		self, ok := b.study.PartyByName("a")
		if !ok {
			t.Fatal("no party a")
		}
		plan, err := release.For(b.study, self, 0)
		check(t, err)
		st := b.open("a")
		defer st.Close()
		check(t, st.PutLook(b.study.ID, damage(release.EncodeLook(plan.NewLook().Exact()))))
		return b
	}
	t.Run("whole", func(t *testing.T) {
		b := looked(t, func(look []byte) []byte { return look })
		stop := b.serve()
		defer stop()
		b.runAll(b.context(), b.parties...)
		stop()
		b.verify(nil) // checks the number of debits
	})
	damages := map[string]func([]byte) []byte{
		"cut off": func(look []byte) []byte { return look[:len(look)-16] },
	}
	if full.Asked() {
		damages["in the middle"] = func(look []byte) []byte { return look[:5] }
		damages["too long"] = func(look []byte) []byte { return append(look, look...) }
		damages["out of range"] = func(look []byte) []byte { return bytes.Repeat([]byte{0xff}, len(look)) }
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			b := looked(t, damage)
			stop := b.serve()
			defer stop()
			ctx, cancel := context.WithCancel(b.context())
			others := make(chan error, 2)
			for _, name := range []string{"b", "c"} {
				go func() { others <- b.run(ctx, name, nil) }()
			}
			err := b.run(ctx, "a", nil)
			cancel()
			<-others
			<-others
			if err == nil || !strings.Contains(err.Error(), "the stored first look at the data cannot be used") || !strings.Contains(err.Error(), b.study.ID.String()+"-look") {
				t.Errorf("said: %v", err)
			}
			st := b.open("a")
			defer st.Close()
			if entries, err := st.Ledger(); err != nil || len(entries) != 0 {
				t.Errorf("%d debits, %v", len(entries), err)
			}
			if _, err := st.ReleaseHeader(b.study.ID); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a release: %v", err)
			}
		})
	}
}

// A party killed at one point after another still debits once.
func TestPartySurvivesEveryKillInOneStudy(t *testing.T) {
	t.Parallel()
	b := newBench(t, bigSketch, uniform(50))
	die, finish := b.killing()
	for _, at := range []string{"persisted commit", "persisted share", "persisted confirm", "projected", "debited", "stored", "uploading"} {
		die(at)
	}
	before := b.stored()
	if before == nil {
		t.Fatal("the release was stored before the last kill, and is gone")
	}
	finish(before)
}

// A party whose sketch waits for its steward is killed when it is held, and again at every step of
// the release. Meanwhile a late shard comes and records are withdrawn. What is stored and sent in
// the end is of the remaining records, and nothing is held any more.
func TestHeldSketchSurvivesSIGKILL(t *testing.T) {
	t.Parallel()
	w := bigSketch
	w.sketches, w.release = smallSketch.sketches, "ask"
	b := newBench(t, w, uniform(50))
	die, finish := b.killing()
	die("held")
	check(t, os.WriteFile(b.path("a-late.csv"), []byte("id,x\nID100,0.5\nID101,0.25\n"), 0o600))
	check(t, os.WriteFile(b.path("gone.csv"), []byte("id,x\nID0,0.0000\n"), 0o600))
	h := b.change(local.HeldChange{})
	if len(h.Added) != 1 || h.Records != 52 {
		t.Errorf("after a late shard: %+v", h)
	}
	if h = b.change(local.HeldChange{Withdraw: b.path("gone.csv")}); h.Records != 51 || h.Taken != 1 {
		t.Errorf("after a withdrawal: %+v", h)
	}
	die("held")
	b.release()
	die("projected")
	die("debited")
	die("stored")
	if err := b.changes(local.HeldChange{}); !errors.Is(err, node.ErrReleased) {
		t.Errorf("a change after the release was stored: %v", err)
	}
	before := b.stored()
	finish(before)
	if _, err := os.Stat(filepath.Join(b.path("a"), "held", b.study.ID.String())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the sketch is still held: %v", err)
	}
	st := b.open("a")
	defer st.Close()
	r, err := local.Inspect(st, b.study)
	check(t, err)
	if r.Records != 51 || !r.Intact {
		t.Errorf("a release of %d records, intact: %v", r.Records, r.Intact)
	}
}

// The study's end destroys what is held: it has become useless.
func TestHeldSketchEndsWithTheStudy(t *testing.T) {
	t.Parallel()
	w := smallSketch
	w.release = "ask"
	b := newBench(t, w, uniform(50))
	stop := b.serve()
	defer stop()
	held := filepath.Join(b.path("a"), "held", b.study.ID.String())
	var others sync.WaitGroup
	for _, name := range []string{"b", "c"} {
		others.Go(func() { b.run(b.context(), name, nil) }) // until the result, or until the aggregator stops
	}
	err := b.run(b.context(), "a", func(p event.Progress) {
		if p.Milestone == event.Held {
			if _, err := os.Stat(held); err != nil {
				t.Errorf("nothing is held: %v", err)
			}
			b.skew.Store(8000) // past the deadline
		}
	})
	others.Wait()
	var failed *node.FailedError
	if !errors.As(err, &failed) {
		t.Errorf("the party ended with %v", err)
	}
	if _, err := os.Stat(held); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the sketch is still held: %v", err)
	}
	if err := b.changes(local.HeldChange{}); !errors.Is(err, node.ErrNoSeed) {
		t.Errorf("a change after the end: %v", err)
	}
}

// passing is a state whose held sketch another process has locked for a moment.
type passing struct {
	node.PartyState
	unlock func()
}

func (p passing) LockHeld(study protocol.StudyID, patience time.Duration) (func(), error) {
	if patience > 0 {
		go p.unlock()
	}
	return p.PartyState.LockHeld(study, patience)
}

// A running node locks the held sketch whenever it looks for the steward's decision. A command that
// comes at that moment waits.
func TestCommandsWaitForANodeThatLooks(t *testing.T) {
	t.Parallel()
	w := smallSketch
	w.release = "ask"
	b := newBench(t, w, uniform(50))
	die, finish := b.killing()
	die("held")
	for _, command := range []func(source.Options) error{
		func(o source.Options) error {
			_, err := local.ChangeHeld(t.Context(), o, local.HeldChange{})
			return err
		},
		func(o source.Options) error {
			_, err := local.ReleaseHeld(o)
			return err
		},
	} {
		st := b.open("a")
		defer st.Close()
		unlock, err := st.LockHeld(b.study.ID, 0)
		check(t, err)
		check(t, command(b.sketchOptions(passing{st, unlock})))
	}
	die("stored")
	finish(b.stored())
}

// change changes party a's held sketch.
func (b *bench) change(c local.HeldChange) local.Holding {
	b.t.Helper()
	st := b.open("a")
	defer st.Close()
	h, err := local.ChangeHeld(b.t.Context(), b.sketchOptions(st), c)
	check(b.t, err)
	return h
}

// changes returns the error of a change of party a's held sketch.
func (b *bench) changes(c local.HeldChange) error {
	b.t.Helper()
	st := b.open("a")
	defer st.Close()
	_, err := local.ChangeHeld(b.t.Context(), b.sketchOptions(st), c)
	return err
}

// release stores the decision of party a's steward.
func (b *bench) release() {
	b.t.Helper()
	st := b.open("a")
	defer st.Close()
	_, err := local.ReleaseHeld(b.sketchOptions(st))
	check(b.t, err)
}

func (b *bench) sketchOptions(st node.PartyState) source.Options {
	return source.Options{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(b.path("a.yaml")) }, Study: b.study,
		Env: node.PartyEnv{Entropy: rand.Reader, Now: b.now},
	}
}

// verify catches a party whose retry draws noise again: it finds its release gone and makes
// another, under the existing debit.
func TestRedrawingOnRetryIsCaught(t *testing.T) {
	for _, w := range []struct {
		name string
		terms
		data func(int) string
	}{{"laplace", smallSketch, uniform(50)}, {"randomised response", bits, coins(60)}} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, w.terms, w.data)
			stop := b.serve()
			defer stop()
			ctx := b.context()
			others := make(chan struct{})
			go func() { defer close(others); b.runAll(ctx, "b", "c") }()
			if err := b.process(ctx, "stored"); !killed(err) {
				t.Fatal(err)
			}
			before := b.stored()
			check(t, os.RemoveAll(filepath.Join(b.path("a"), "releases", b.study.ID.String())))
			check(t, b.process(ctx, ""))
			<-others
			stop()
			if faults := b.faults(before); !slices.Equal(faults, []string{redrawn}) {
				t.Errorf("found %q, want %q", faults, redrawn)
			}
		})
	}
}

// An aggregator that is killed and restarted at any moment loses nothing: the parties reconnect and
// the study ends as it would have.
func TestAggregatorSurvivesSIGKILL(t *testing.T) {
	t.Parallel()
	b := newBench(t, bigSketch, uniform(50))
	ctx := b.context()
	start := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), aggregatorEnv+"="+b.path("agg")+"\n"+b.addr)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Errorf("starting the aggregator: %v", err)
		}
		return cmd
	}
	var mu sync.Mutex
	aggregator := start()
	kill := func() {
		if err := aggregator.Process.Kill(); err != nil {
			t.Errorf("killing the aggregator: %v", err)
		}
		aggregator.Wait()
	}
	due := map[string]bool{"persisted commit": true, "persisted share": true, "persisted confirm": true, "stored": true, "uploading": true, "uploaded": true}
	var a sync.WaitGroup
	a.Go(func() {
		err := b.run(ctx, "a", func(p event.Progress) {
			mu.Lock()
			defer mu.Unlock()
			if at := point(p); due[at] {
				delete(due, at)
				kill()
				aggregator = start()
			}
		})
		if err != nil {
			t.Errorf("party a: %v", err)
		}
	})
	b.runAll(ctx, "b", "c")
	a.Wait()
	kill()
	if len(due) > 0 {
		t.Errorf("the aggregator was to be killed also at %v", due)
	}
	b.verify(nil)
}
