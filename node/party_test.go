package node_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/ledger"
)

var smallSketch = terms{
	sketches: "[{side: columns, family: sparse, k: 64, s: 1, helpers: {ones: 1}}]",
	privacy:  "{unit: attribute, mechanism: laplace, epsilon: 1}",
	analyses: "[{kind: correlation}, {kind: intersection}]",
}

// All parties get the same result, and it names all of them.
func TestStudyOverTheNetwork(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	b.runAll(b.context(), b.parties...)
	var first []byte
	for _, name := range b.parties {
		st := b.open(name)
		r, raw, err := stored.Result(st, b.study.ID)
		check(t, err)
		check(t, st.Close())
		if first == nil {
			first = raw
		}
		if string(raw) != string(first) {
			t.Errorf("party %s has another result", name)
		}
		if r.Completeness != analysis.Full || len(r.Parties) != 3 || len(r.Absent) != 0 {
			t.Errorf("party %s: %s result of %d parties without %v", name, r.Completeness, len(r.Parties), r.Absent)
		}
	}
}

// A party lost after the agreement loses only its own columns, and the result says that it is
// missing.
func TestLostPartyCostsOnlyItself(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	lost, die := context.WithCancel(b.context())
	ended := make(chan error, 1)
	go func() {
		ended <- b.run(lost, "c", func(p event.Progress) {
			if p.Milestone == event.Projected {
				die()
			}
		})
	}()
	var uploaded, survivors sync.WaitGroup
	uploaded.Add(2)
	ctx := b.context()
	for _, name := range []string{"a", "b"} {
		survivors.Go(func() {
			err := b.run(ctx, name, func(p event.Progress) {
				if p.Milestone == event.Uploaded {
					uploaded.Done()
				}
			})
			if err != nil {
				t.Errorf("party %s: %v", name, err)
			}
		})
	}
	uploaded.Wait()
	var wait *node.WaitError
	if err := <-ended; !errors.As(err, &wait) && !errors.Is(err, context.Canceled) {
		t.Errorf("the lost party ended with %v", err)
	}
	b.skew.Store(8000) // past the deadline
	survivors.Wait()
	st := b.open("a")
	defer st.Close()
	r, _, err := stored.Result(st, b.study.ID)
	check(t, err)
	if r.Completeness != analysis.Partial || len(r.Parties) != 2 || strings.Join(r.Absent, " ") != "c" {
		t.Errorf("%s result of %d parties without %v", r.Completeness, len(r.Parties), r.Absent)
	}
}

// without runs all parties: one dies at a milestone, the others until they have uploaded their
// releases. Wait on the returned group for the others.
func (b *bench) without(dying string, at event.Milestone) *sync.WaitGroup {
	b.t.Helper()
	var uploaded, parties sync.WaitGroup
	uploaded.Add(len(b.parties) - 1)
	lost, die := context.WithCancel(b.context())
	b.t.Cleanup(die)
	for _, name := range b.parties {
		parties.Go(func() {
			ctx := b.context()
			if name == dying {
				ctx = lost
			}
			err := b.run(ctx, name, func(p event.Progress) {
				switch {
				case name == dying && p.Milestone == at:
					die()
				case name != dying && p.Milestone == event.Uploaded:
					uploaded.Done()
				}
			})
			if err != nil && name != dying {
				b.t.Errorf("party %s: %v", name, err)
			}
		})
	}
	uploaded.Wait()
	<-lost.Done()
	return &parties
}

// An aggregator that was down at the deadline computes from the releases that had arrived before.
func TestAggregatorRestartedAfterTheDeadline(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	parties := b.without("c", event.Projected)
	stop()
	b.skew.Store(8000) // past the deadline
	stop = b.serve()
	defer stop()
	parties.Wait()
	st := b.open("b")
	defer st.Close()
	r, _, err := stored.Result(st, b.study.ID)
	check(t, err)
	if r.Completeness != analysis.Partial || len(r.Parties) != 2 {
		t.Errorf("%s result of %d parties", r.Completeness, len(r.Parties))
	}
}

// What stops a party before its first message, or before its debit.
func TestRefusals(t *testing.T) {
	t.Parallel()
	none := terms{
		sketches: "[{side: columns, family: rademacher, k: 32, helpers: {ones: 1}}]",
		privacy:  "{mechanism: none}",
		analyses: "[{kind: correlation}]",
		caps:     "{}",
	}
	capped := smallSketch
	capped.caps = "{attribute: {epsilon: 0.5}}"
	uncapped := smallSketch
	uncapped.caps = "{}"
	for name, c := range map[string]struct {
		terms   terms
		data    func(int) string
		prepare func(*bench)
		want    func(error) bool
	}{
		"without noise": {none, uniform(50), nil, is[*node.ReconstructionError]},
		"over the cap":  {capped, uniform(50), nil, is[*ledger.Exceeded]},
		"without a cap": {uncapped, uniform(50), nil, is[*node.NoBudgetError]},
		"bad data":      {smallSketch, func(int) string { return "id,x\n1,none\n" }, nil, is[*dataset.Error]},
		"no site entry": {smallSketch, uniform(50), func(b *bench) { check(t, os.WriteFile(b.path("a.yaml"), nil, 0o600)) }, is[*node.SiteError]},
		"locked": {smallSketch, uniform(50), func(b *bench) {
			st := b.open("a")
			unlock, err := st.LockStudy(b.study.ID)
			check(t, err)
			t.Cleanup(unlock)
		}, func(err error) bool { return errors.Is(err, store.ErrLocked) }},
		"withdrawn": {smallSketch, uniform(50), func(b *bench) {
			st := b.open("a")
			defer st.Close()
			check(t, st.PutDecision(b.study.ID, store.Withdraw, now()))
		}, func(err error) bool { return errors.Is(err, node.ErrWithdrawn) }},
		"declined": {smallSketch, uniform(50), func(b *bench) {
			st := b.open("a")
			defer st.Close()
			check(t, st.PutDecision(b.study.ID, store.Decline, now()))
		}, func(err error) bool { return errors.Is(err, node.ErrNotApproved) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.terms, c.data)
			stop := b.serve() // nothing may depend on the aggregator's absence
			defer stop()
			if c.prepare != nil {
				c.prepare(b)
			}
			err := b.run(b.context(), "a", nil)
			if !c.want(err) {
				t.Fatalf("ended with %v", err)
			}
			st := b.open("a")
			defer st.Close()
			entries, err := st.Ledger()
			check(t, err)
			if len(entries) != 0 {
				t.Errorf("%d debits for a refused study", len(entries))
			}
			own, err := st.Own(b.study.ID)
			check(t, err)
			for _, o := range own {
				if o.Kind != protocol.KindWithdraw {
					t.Errorf("a %s message was signed", o.Kind)
				}
			}
		})
	}
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// An aggregator that does not host the study admits none of its parties.
func TestUnhostedStudyIsNotSpokenOf(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	check(t, os.RemoveAll(b.path("agg")))
	other := newBench(t, smallSketch, uniform(50)) // another study, at the address of the first
	other.addr = b.addr
	stop := other.serve()
	defer stop()
	ctx, cancel := context.WithCancel(b.context())
	defer cancel()
	var last error
	err := b.run(ctx, "a", func(p event.Progress) {
		if p.Milestone == event.Retrying {
			last = p.Err
			cancel()
		}
	})
	var wait *node.WaitError
	if !errors.As(err, &wait) || last == nil {
		t.Fatalf("ended with %v after %v", err, last)
	}
	if !errors.Is(last, p2p.ErrUnreachable) && !errors.Is(last, p2p.ErrRefusedPeer) {
		t.Errorf("the reason is %v", last)
	}
}

// A peer that no study lists gets no answer.
func TestStrangersAreNotAnswered(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	check(t, store.Create(b.path("stranger"), store.Party, rand.Reader))
	st, err := store.Open(b.path("stranger"), store.Party, store.Options{})
	check(t, err)
	defer st.Close()
	h, err := p2p.New(p2p.Config{Key: st.Identity, Allow: func(protocol.PeerID) bool { return true }})
	check(t, err)
	defer h.Close()
	for _, call := range []string{"read", "post", "chunk", "progress", "document", "ledger"} {
		if answer, err := h.Call(b.context(), b.study.Aggregator.ID, b.study.Aggregator.Addrs, call, b.study.ID[:]); !errors.Is(err, p2p.ErrRefusedPeer) {
			t.Errorf("%s: answered %d bytes, error %v", call, len(answer), err)
		}
	}
}
