package node_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/protocol/wire"
)

// copyDir copies a state directory, like a backup.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	check(t, os.RemoveAll(to))
	check(t, os.CopyFS(to, os.DirFS(from)))
	check(t, filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	}))
}

// again makes a second study of the same nodes and terms, which the bench serves from then on.
func (b *bench) again(w terms) {
	b.t.Helper()
	source := strings.Replace(b.source(w), "nonce: 00", "nonce: 01", 1)
	s, err := file.Parse([]byte(source))
	check(b.t, err)
	b.study = s
	for _, p := range b.parties {
		site := fmt.Sprintf("datasets:\n  d: {source: %s.csv, caps: {attribute: {epsilon: 9}}}\nstudies:\n  %s: {dataset: d}\n", p, s.ID)
		check(b.t, os.WriteFile(b.path(p+".yaml"), []byte(site), 0o600))
		st := b.open(p)
		check(b.t, st.PutStudy(s.ID, s.Source, now()))
		check(b.t, st.PutDecision(s.ID, store.Approve, now()))
		check(b.t, st.Close())
	}
	st := b.open("agg")
	check(b.t, st.PutStudy(s.ID, s.Source, now()))
	check(b.t, st.Close())
}

// rolledBack runs party a with a ledger restored from a backup, and checks that it stops before it
// sends or spends anything.
func (b *bench) rolledBack(signed, held uint64) {
	b.t.Helper()
	before := b.posted()
	if f := b.headFound(); f.Verdict != local.Fail || !strings.Contains(f.Said, fmt.Sprintf(": %d, in this ledger: %d at most", signed, held)) {
		b.t.Errorf("doctor says %+v", f)
	}
	err := b.run(b.context(), "a", nil)
	var refusal *node.LedgerRolledBackError
	if !errors.As(err, &refusal) {
		b.t.Fatalf("the party with a restored ledger ended with %v", err)
	}
	if refusal.Signed != signed || refusal.Held != held || refusal.Aggregator != b.study.Aggregator.ID {
		b.t.Errorf("refused with %+v, want %d signed and %d held", refusal, signed, held)
	}
	if code := fail.Find(err).Exit; code != fail.Budget || !strings.Contains(err.Error(), "party init") {
		b.t.Errorf("exit code %d: %v", code, err)
	}
	st := b.open("a")
	defer st.Close()
	entries, err := st.Ledger()
	check(b.t, err)
	if uint64(len(entries)) != held {
		b.t.Errorf("%d debits, want the %d restored ones", len(entries), held)
	}
	if after := b.posted(); after != before {
		b.t.Errorf("%d messages were posted", after-before)
	}
}

// headFound is doctor's finding about the aggregator's head of party a's ledger.
func (b *bench) headFound() (found local.Finding) {
	b.t.Helper()
	st := b.open("a")
	defer st.Close()
	for _, f := range local.Diagnose(b.context(), local.DoctorOptions{
		Store: st, Now: now, Studies: []*study.Study{b.study},
		Site: func() (config.Party, error) { return config.LoadParty(b.path("a.yaml")) },
	}) {
		if f.Check == local.LedgerHeadCheck {
			found = f
		}
	}
	return found
}

// posted counts the messages on the study's board.
func (b *bench) posted() uint64 {
	b.t.Helper()
	agg := b.open("agg")
	defer agg.Close()
	count, err := agg.BoardCount(b.study.ID)
	check(b.t, err)
	return count
}

// A party whose state directory is a backup from before a release is stopped by its own signature,
// in the same study and in a later one.
func TestRestoredLedgerIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	copyDir(t, b.path("a"), b.path("backup-0"))
	stop := b.serve()
	b.runAll(b.context(), b.parties...)
	copyDir(t, b.path("a"), b.path("backup-1"))
	stop()

	copyDir(t, b.path("backup-0"), b.path("a"))
	stop = b.serve()
	b.rolledBack(1, 0)
	stop()

	// With the newest backup the party continues, and goes further.
	copyDir(t, b.path("backup-1"), b.path("a"))
	b.again(smallSketch)
	stop = b.serve()
	if f := b.headFound(); f.Verdict != local.Pass || !strings.Contains(f.Said, "knows of: 1;") {
		t.Errorf("with the newest backup, doctor says %+v", f)
	}
	b.runAll(b.context(), b.parties...)
	stop()

	// That backup has become old.
	copyDir(t, b.path("backup-1"), b.path("a"))
	b.again(terms{sketches: smallSketch.sketches, privacy: "{unit: attribute, mechanism: laplace, epsilon: 0.5}", analyses: smallSketch.analyses})
	stop = b.serve()
	defer stop()
	b.rolledBack(2, 1)
}

// If the aggregator has not seen the head with a debit, it is shown to it before noise is drawn. If
// the aggregator does not keep the head, none is drawn.
func TestHeadIsCountersignedBeforeNoise(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	others := make(chan struct{})
	go func() { defer close(others); b.runAll(b.context(), "b", "c") }()
	ctx, die := context.WithCancel(b.context())
	err := b.run(ctx, "a", func(p event.Progress) {
		if p.Milestone == event.Debited {
			die()
		}
	})
	if err == nil {
		t.Fatal("the party went on without the aggregator")
	}
	st := b.open("a")
	if _, err := st.ReleaseHeader(b.study.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a release is stored before its debit was countersigned (%v)", err)
	}
	check(t, st.Close())
	b.runAll(b.context(), "a") // it finds the debit, has it countersigned, and goes on
	<-others
	stop()
	b.verify(nil)
}

// An aggregator must answer with the head that it was shown, or with one that this party signed.
// Anything else is its fault.
func TestFalseLedgerHeads(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	agg := b.open("agg")
	defer agg.Close()
	aggregator, err := protocol.NewSigner(agg.Identity())
	check(t, err)
	for name, answer := range map[string]func(protocol.LedgerHead) []byte{
		"nothing":        func(protocol.LedgerHead) []byte { return nil },
		"no countersign": wire.EncodeLedgerHead,
		"forged": func(h protocol.LedgerHead) []byte {
			h.Count++
			return wire.EncodeLedgerHead(aggregator.Countersign(h))
		},
		"another's": func(h protocol.LedgerHead) []byte {
			return wire.EncodeLedgerHead(aggregator.Countersign(aggregator.SignLedgerHead(h.Aggregator, 5, protocol.Digest{1})))
		},
	} {
		t.Run(name, func(t *testing.T) {
			host, err := p2p.New(p2p.Config{Key: agg.Identity, Listen: []string{b.addr}, Allow: func(protocol.PeerID) bool { return true }})
			check(t, err)
			defer host.Close()
			host.Serve("ledger", func(_ context.Context, _ protocol.PeerID, request []byte) ([]byte, error) {
				h, err := wire.DecodeLedgerHead(request)
				return answer(h), err
			})
			var failed *node.FailedError
			var fault *protocol.Fault
			if err := b.run(b.context(), "a", nil); !errors.As(err, &failed) || !errors.As(err, &fault) || fault.Culprit != aggregator.ID() {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// The aggregator keeps only heads signed by their party for this aggregator.
func TestForeignLedgerHeads(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	st, other := b.open("a"), b.open("b")
	defer st.Close()
	defer other.Close()
	signer, err := protocol.NewSigner(st.Identity())
	check(t, err)
	foreign, err := protocol.NewSigner(other.Identity())
	check(t, err)
	h, err := p2p.New(p2p.Config{Key: st.Identity, Allow: func(protocol.PeerID) bool { return true }})
	check(t, err)
	defer h.Close()
	forged := signer.SignLedgerHead(b.study.Aggregator.ID, 1, protocol.Digest{1})
	forged.Count = 2
	for name, head := range map[string]protocol.LedgerHead{
		"another party's":         foreign.SignLedgerHead(b.study.Aggregator.ID, 1, protocol.Digest{1}),
		"for another aggregator":  signer.SignLedgerHead(foreign.ID(), 1, protocol.Digest{1}),
		"with a forged signature": forged,
	} {
		ctx := b.context()
		call := func() error {
			_, err := h.Call(ctx, b.study.Aggregator.ID, b.study.Aggregator.Addrs, "ledger", wire.EncodeLedgerHead(head))
			return err
		}
		err := call()
		for errors.Is(err, p2p.ErrRefusedPeer) && ctx.Err() == nil { // the aggregator has not taken up the study yet
			err = call()
		}
		if refusal := (*p2p.Refusal)(nil); !errors.As(err, &refusal) || refusal.Code == p2p.CodeInternal {
			t.Errorf("a head %s: %v", name, err)
		}
	}
}
