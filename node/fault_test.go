package node_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wait"
	"github.com/cosketch/cosketch/protocol/wire"
)

// inResult checks which parties are in a party's result, and which is not.
func (b *bench) inResult(name string, parties int, absent string) {
	b.t.Helper()
	st := b.open(name)
	defer st.Close()
	r, _, err := stored.Result(st, b.study.ID)
	check(b.t, err)
	if len(r.Parties) != parties || strings.Join(r.Absent, " ") != absent {
		b.t.Errorf("party %s: a %s result of %d parties without %q", name, r.Completeness, len(r.Parties), r.Absent)
	}
}

// A party that falls silent in the agreement loses its place but does not stop the study. The
// others continue in a second attempt, spend their budget once, and get a result. When it comes
// back it is told why it is out.
func TestSecondAttemptWithoutASilentParty(t *testing.T) {
	t.Parallel()
	for _, kind := range []protocol.Kind{protocol.KindCommit, protocol.KindShare, protocol.KindConfirm} {
		t.Run(string(kind), func(t *testing.T) {
			b := newBench(t, smallSketch, uniform(50))
			stop := b.serve()
			defer stop()
			lost, die := context.WithCancel(b.context())
			defer die()
			var others sync.WaitGroup
			silent := make(chan error, 1)
			go func() {
				silent <- b.run(lost, "c", func(p event.Progress) {
					if p.Milestone == event.Persisted && p.Kind == kind {
						die() // signed and stored, but never sent
					}
				})
			}()
			waiting := map[session.State]map[string]bool{}
			var mu sync.Mutex
			for _, name := range []string{"a", "b"} {
				others.Go(func() {
					err := b.run(b.context(), name, func(p event.Progress) {
						onlyC := p.Milestone == event.Waiting && p.Status.WaitFor == wait.Code(kind+"s") && len(p.Status.From) == 1
						if !onlyC {
							return
						}
						mu.Lock()
						defer mu.Unlock()
						if waiting[p.Status.State] == nil {
							waiting[p.Status.State] = map[string]bool{}
						}
						if waiting[p.Status.State][name] = true; len(waiting[p.Status.State]) == 2 {
							b.skew.Store(5000) // past the end of the first attempt, before the second's
						}
					})
					if err != nil {
						t.Errorf("party %s: %v", name, err)
					}
				})
			}
			<-silent
			others.Wait()
			b.inResult("a", 2, "c")
			b.inResult("b", 2, "c")
			for _, name := range []string{"a", "b"} {
				st := b.open(name)
				entries, err := st.Ledger()
				check(t, err)
				if len(entries) != 1 {
					t.Errorf("party %s spent its budget %d times", name, len(entries))
				}
				if files, err := os.ReadDir(b.path(name + "/secrets")); err != nil || len(files) > 0 {
					t.Errorf("party %s keeps secrets: %v, %v", name, files, err)
				}
				check(t, st.Close())
			}
			err := b.run(b.context(), "c", nil)
			var failed *node.FailedError
			if !errors.As(err, &failed) {
				t.Errorf("the silent party ended with %v", err)
			}
		})
	}
}

// A party that approves after the roster is fixed joins: it gets the seed, its sketch is added, and
// a later result replaces the first one.
func TestLatePartyJoins(t *testing.T) {
	t.Parallel()
	b := lateParty(t, smallSketch, uniform(50))
	st := b.open("c")
	defer st.Close()
	own, err := st.Own(b.study.ID)
	check(t, err)
	var kinds []string
	for _, o := range own {
		kinds = append(kinds, string(o.Kind))
	}
	if want := []string{"join", "joined", "release"}; !slices.Equal(kinds, want) {
		t.Errorf("the late party signed %v, want %v", kinds, want)
	}
}

// The records of a vertical study are joined anew when a late party brings its columns of them.
func TestLatePartyBringsItsColumns(t *testing.T) {
	t.Parallel()
	w := smallSketch
	w.sketches, w.analyses = "[{side: records, family: identity}]", "[{kind: k-means, clusters: 2}]"
	b := lateParty(t, w, uniform(50))
	for _, name := range b.parties {
		st := b.open(name)
		r, _, err := stored.Result(st, b.study.ID)
		check(t, err)
		if j := r.Analyses[0].Joined; j == nil || !slices.Equal(j.In, []int{0, 0, 50}) || len(r.Analyses[0].KMeans.Centroids[0]) != 3 {
			t.Errorf("party %s: %+v of %d dimensions", name, j, len(r.Analyses[0].KMeans.Centroids[0]))
		}
		table, err := local.OwnLabels(st, b.study)
		if check(t, err); strings.Count(string(table), "\n") != 51 || strings.Contains(string(table), ",\n") {
			t.Errorf("party %s has the labels\n%s", name, table)
		}
		check(t, st.Close())
	}
}

// lateParty runs a study of two parties to its result, and then to the next with a third that comes
// late.
func lateParty(t *testing.T, w terms, data func(party int) string) *bench {
	t.Helper()
	w.late = now() + 3*3600
	b := newBench(t, w, data)
	site, err := os.ReadFile(b.path("b.yaml"))
	check(t, err)
	site = []byte(strings.Replace(string(site), "dataset: d,", "dataset: d, welcome: ask,", 1)) // a's welcome is enough
	check(t, os.WriteFile(b.path("b.yaml"), site, 0o600))
	stop := b.serve()
	defer stop()
	var first, all sync.WaitGroup
	first.Add(2)
	for _, name := range []string{"a", "b"} {
		all.Go(func() {
			var once sync.Once
			err := b.run(b.context(), name, func(p event.Progress) {
				if p.Milestone == event.Waiting && p.Status.State == session.Approved && len(p.Status.From) == 1 {
					b.skew.Store(3700) // only c has not approved: past the close of approval
				}
				if p.Milestone == event.Waiting && p.Status.State == session.Released && p.Status.WaitFor == wait.Late {
					once.Do(first.Done)
				}
			})
			if err != nil {
				t.Errorf("party %s: %v", name, err)
			}
		})
	}
	waited := make(chan struct{})
	go func() { first.Wait(); close(waited) }()
	select {
	case <-waited:
	case <-b.context().Done():
		t.Fatal("there is no first result")
	}
	b.inResult("a", 2, "c")
	b.runAll(b.context(), "c")
	all.Wait()
	for _, name := range b.parties {
		b.inResult(name, 3, "")
		if files, err := os.ReadDir(b.path(name + "/secrets")); err != nil || len(files) > 0 {
			t.Errorf("party %s keeps secrets: %v, %v", name, files, err)
		}
	}
	return b
}

// If a party withdraws before it has committed, the others lose nothing.
func TestWithdrawalCostsOnlyItself(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	st := b.open("c")
	check(t, st.PutDecision(b.study.ID, store.Withdraw, now()))
	check(t, st.Close())
	var all sync.WaitGroup
	all.Go(func() {
		if err := b.run(b.context(), "c", nil); !errors.Is(err, node.ErrWithdrawn) {
			t.Errorf("the party that withdrew ended with %v", err)
		}
	})
	b.runAll(b.context(), "a", "b")
	all.Wait()
	b.inResult("a", 2, "c")
}

// If a party's software reads the study with another meaning, the aggregator tells it that it is
// the one that differs, and how.
func TestAnotherMeaning(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("a")
	signer, err := protocol.NewSigner(st.Identity())
	check(t, err)
	other := b.study.Meaning
	other[0] ^= 1
	approve := protocoltest.Sealed(signer.Seal(b.study.ID, protocol.KindApprove, 0, wire.EncodeApprove(protocol.Approve{Meaning: other})))
	check(t, st.PutSigned(b.study.ID, protocol.KindApprove, 0, wire.EncodeEnvelope(approve.Envelope())))
	check(t, st.Close())
	stop := b.serve()
	defer stop()
	err = b.run(b.context(), "a", nil)
	var refusal *p2p.Refusal
	want := fmt.Sprintf("a disagrees with the aggregator on the version: meaning of the study file %x against %x", other[:4], b.study.Meaning[:4])
	if !errors.As(err, &refusal) || refusal.Code != p2p.CodeVersion || !strings.Contains(refusal.Message, want) {
		t.Errorf("ended with %v, want %q", err, want)
	}
}

// An approval signed under another version of the protocol is refused with that reason.
func TestSignedUnderAnotherVersion(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	st := b.open("a")
	defer st.Close()
	signer, err := protocol.NewSigner(st.Identity())
	check(t, err)
	e := protocoltest.Sealed(signer.Seal(b.study.ID, protocol.KindApprove, 0, wire.EncodeApprove(protocol.Approve{Meaning: b.study.Meaning}))).Envelope()
	e.Signature = ed25519.Sign(st.Identity(), bytes.Replace(e.Preimage(), []byte(protocol.Version), []byte("cosketch/2"), 1))
	host, err := p2p.New(p2p.Config{Key: st.Identity, Allow: func(protocol.PeerID) bool { return true }})
	check(t, err)
	defer host.Close()
	_, err = host.Call(b.context(), b.study.Aggregator.ID, b.study.Aggregator.Addrs, "post", wire.EncodePost([]protocol.Envelope{e}))
	var refusal *p2p.Refusal
	const want = "a disagrees with the aggregator on the version: signatures of cosketch/2 against cosketch/1"
	if !errors.As(err, &refusal) || refusal.Code != p2p.CodeVersion || !strings.Contains(refusal.Message, want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// Refusals of a party that asks as often as it can do not fill the disk: they make one line a
// minute, with their number.
func TestRefusalsAreLoggedSeldom(t *testing.T) {
	const posts, askers = 960, 16
	b := newBench(t, smallSketch, uniform(50))
	var up atomic.Int64
	b.uptime = func() time.Duration { return time.Duration(up.Load()) }
	stop := b.serve()
	defer stop()
	st := b.open("a")
	defer st.Close()
	signer, err := protocol.NewSigner(st.Identity())
	check(t, err)
	e := protocoltest.Sealed(signer.Seal(b.study.ID, protocol.KindApprove, 0, wire.EncodeApprove(protocol.Approve{Meaning: b.study.Meaning}))).Envelope()
	e.Signature[0] ^= 1
	request := wire.EncodePost([]protocol.Envelope{e})
	host, err := p2p.New(p2p.Config{Key: st.Identity, Allow: func(protocol.PeerID) bool { return true }})
	check(t, err)
	defer host.Close()
	ctx := b.context()
	post := func() bool {
		_, err := host.Call(ctx, b.study.Aggregator.ID, b.study.Aggregator.Addrs, "post", request)
		var refusal *p2p.Refusal
		if !errors.As(err, &refusal) || refusal.Code != p2p.CodeInvalid {
			t.Errorf("got %v, want a refusal", err)
			return false
		}
		return true
	}
	post()
	var asking sync.WaitGroup
	for range askers {
		asking.Go(func() {
			for range posts / askers {
				if !post() {
					return
				}
			}
		})
	}
	asking.Wait()
	up.Add(int64(time.Minute))
	post()
	stop()
	lines, counted := 0, 0
	for line := range bytes.Lines(b.logs.Bytes()) {
		var one struct {
			Msg, Error string
			LeftOut    int `json:"left_out"`
		}
		check(t, json.Unmarshal(line, &one))
		if one.Msg != "refused a message" {
			continue
		}
		lines, counted = lines+1, counted+one.LeftOut
		if one.Error != "" {
			counted++
		}
	}
	if want := 1 + posts + 1; lines > 4 || counted != want {
		t.Errorf("%d lines tell of %d refusals, want %d in four lines at most", lines, counted, want)
	}
}
