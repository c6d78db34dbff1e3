package node_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
)

// If a date has passed only by one clock, the clocks are blamed, and which.
func TestAClockADayOff(t *testing.T) {
	t.Parallel()
	for ahead, says := range map[int64]string{
		-86400: "behind the aggregator's",
		86400:  "ahead of the aggregator's",
	} {
		t.Run(fmt.Sprint(ahead), func(t *testing.T) {
			b := newBench(t, smallSketch, uniform(50))
			b.skew.Store(max(0, -ahead))
			stop := b.serve()
			defer stop()
			st := b.open("a")
			defer st.Close()
			options := partyOptions(st, b.path("a.yaml"), nil, b.logger())
			options.Now = func() protocol.Instant { return now() + protocol.Instant(max(0, ahead)) }
			p, err := party.New(options)
			check(t, err)
			defer p.Close()
			err = p.Run(b.context(), b.study.ID)
			var clock *node.ClockError
			if !errors.As(err, &clock) || max(clock.Ahead-ahead, ahead-clock.Ahead) > 10 || !strings.Contains(err.Error(), says) {
				t.Fatalf("ended with %v", err)
			}
			own, err := st.Ledger()
			check(t, err)
			if len(own) != 0 {
				t.Error("it released something")
			}
		})
	}
}

// One node's key in another's directory is noticed before it signs anything.
func TestSwappedKeys(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	ctx, cancel := context.WithCancel(b.context())
	defer cancel()
	approved := func(p event.Progress) {
		if p.Milestone == event.Persisted {
			cancel()
		}
	}
	var waited *node.WaitError
	if err := b.run(ctx, "a", approved); !errors.As(err, &waited) {
		t.Fatalf("alone it ended with %v", err)
	}
	other := b.path("other")
	check(t, store.Create(other, store.Party, strings.NewReader(strings.Repeat("0123456789abcdef", 8))))
	key, err := os.ReadFile(filepath.Join(other, "identity.key"))
	check(t, err)
	check(t, os.WriteFile(filepath.Join(b.path("a"), "identity.key"), key, 0o600))
	var strange *node.IdentityMismatchError
	if err := b.run(b.context(), "a", nil); !errors.As(err, &strange) {
		t.Fatalf("with another's key: %v", err)
	}
}

// While a study waits, a party reports once that the clocks differ, and its status shows it. If
// they agree well enough, nothing is reported.
func TestClocksThatDifferAreSaid(t *testing.T) {
	t.Parallel()
	for ahead, says := range map[int64]string{
		-86400: "behind the aggregator's, so dates come at different times",
		1800:   "ahead of the aggregator's, so dates come at different times",
		100:    "",
	} {
		t.Run(fmt.Sprint(ahead), func(t *testing.T) {
			b := newBench(t, smallSketch, uniform(50))
			stop := b.serve()
			defer stop()
			st := b.open("a")
			defer st.Close()
			var notes []string
			var others sync.WaitGroup
			options := partyOptions(st, b.path("a.yaml"), func(p event.Progress) {
				switch {
				case p.Milestone == event.Clocks:
					notes = append(notes, p.Note)
				case p.Milestone != event.Waiting || p.Status.Terminal():
				case len(notes) == 1 && !strings.Contains(b.status(st.Status).Clock, says):
					t.Errorf("its status does not say %q", says)
				}
			}, b.logger())
			options.Now = func() protocol.Instant { return now() + protocol.Instant(ahead) }
			p, err := party.New(options)
			check(t, err)
			defer p.Close()
			for _, name := range []string{"b", "c"} {
				others.Go(func() {
					if err := b.run(b.context(), name, nil); err != nil {
						t.Errorf("party %s: %v", name, err)
					}
				})
			}
			check(t, p.Run(b.context(), b.study.ID))
			others.Wait()
			if said := strings.Join(notes, "; "); len(notes) > 1 || (len(notes) == 1) != (says != "") || !strings.Contains(said, says) {
				t.Errorf("it says %q", notes)
			}
			if got := b.status(st.Status).Clock; got != "" {
				t.Errorf("in the end its status says %q", got)
			}
		})
	}
}

// A party's clock passes the study's end in the middle of the agreement, but the aggregator's does
// not. The party keeps its secrets; with its clock set right it continues to the result.
func TestPartysClockADayAheadLosesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	var others sync.WaitGroup
	for _, name := range []string{"b", "c"} {
		others.Go(func() {
			if err := b.run(b.context(), name, nil); err != nil {
				t.Errorf("party %s: %v", name, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(b.context())
	b.run(ctx, "a", func(p event.Progress) {
		if p.Milestone == event.Persisted && p.Kind == protocol.KindCommit {
			cancel()
		}
	})
	if ctx.Err() == nil {
		t.Fatal("party a has not committed")
	}
	st := b.open("a")
	options := partyOptions(st, b.path("a.yaml"), nil, b.logger())
	options.Now = func() protocol.Instant { return now() + 86400 }
	p, err := party.New(options)
	check(t, err)
	var clock *node.ClockError
	var failed *node.FailedError
	if err := p.Run(b.context(), b.study.ID); !errors.As(err, &clock) || errors.As(err, &failed) || !strings.Contains(err.Error(), "ahead of the aggregator's") {
		t.Errorf("a day ahead it ended with %v", err)
	}
	check(t, p.Close())
	check(t, st.Close())
	if kept, err := os.ReadDir(b.path("a/secrets")); err != nil || len(kept) == 0 {
		t.Errorf("it keeps %d secrets: %v", len(kept), err)
	}
	b.runAll(b.context(), "a")
	others.Wait()
	b.inResult("a", 3, "")
}
