//go:build unix

package node_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wait"
)

// After a failed write, people repeat the command.

// stewarded is a study in which party a's steward approves it, and changes and releases the held
// sketch: 52 records are added and one is withdrawn.
func (tab table) stewarded(t *testing.T, w *writes) []string {
	t.Helper()
	b := newBench(t, tab.terms, tab.data)
	b.writes = map[string]*writes{tab.node: w}
	command := func(do func(st node.PartyState) error) {
		t.Helper()
		err := b.repeated("a", func() error {
			st := b.open("a")
			defer st.Close()
			return do(b.state("a", st))
		})
		if err != nil && w.hasFailed() && w.how == unacknowledged && strings.Contains(err.Error(), "the record was withdrawn before") {
			return // the steward is told that it has happened
		}
		check(t, err)
	}
	command(func(st node.PartyState) error {
		return st.(failing).PutDecision(b.study.ID, store.Approve, now())
	})
	stop := b.serve()
	defer stop()
	ctx := b.context()
	var others sync.WaitGroup
	others.Go(func() { b.runAll(ctx, "b", "c") })
	err := b.held(ctx)
	if err == nil {
		check(t, os.WriteFile(b.path("a-late.csv"), []byte("id,x\nID100,0.5\nID101,0.25\n"), 0o600))
		check(t, os.WriteFile(b.path("gone.csv"), []byte("id,x\nID0,0.0000\n"), 0o600))
		for _, c := range []local.HeldChange{{}, {Withdraw: b.path("gone.csv")}, {Rebuild: true}} {
			command(func(st node.PartyState) error {
				_, err := local.ChangeHeld(ctx, b.sketchOptions(st), c)
				return err
			})
		}
		command(func(st node.PartyState) error {
			_, err := local.ReleaseHeld(b.sketchOptions(st))
			return err
		})
		err = b.repeated("a", func() error { return b.run(ctx, "a", nil) })
	}
	check(t, err)
	others.Wait()
	stop()
	out := append(b.faults(b.before), b.leftovers(b.parties)...)
	st := b.open("a")
	defer st.Close()
	if r, err := local.Inspect(st, b.study); err != nil || r.Records != 51 {
		out = append(out, fmt.Sprintf("a release of %d records, %v", r.Records, err))
	}
	return out
}

// If a file of the held sketch cannot be written, removing the others may fail too.
func TestTidyingFailsToo(t *testing.T) {
	tab := tables()["steward"]
	for n := 1; n <= 3; n++ {
		for _, how := range []outcome{notPersisted, unacknowledged} {
			w := &writes{fail: nth{"Held.Create", n}, how: how, then: "Held.Discard"}
			for _, fault := range tab.play(tab, t, w) {
				t.Errorf("%s: %s", w.fail, fault)
			}
			if w.then != "" {
				t.Errorf("%s: nothing was taken away", w.fail)
			}
		}
	}
}

// held runs party a until its sketch waits for the steward.
func (b *bench) held(ctx context.Context) error {
	return b.repeated("a", func() error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		waits := false
		err := b.run(ctx, "a", func(p event.Progress) {
			if p.Milestone == event.Waiting && p.Status.WaitFor == wait.Steward {
				waits = true
				cancel()
			}
		})
		if waits {
			return nil
		}
		return err
	})
}

// joined is a study that party c joins once a and b have their result. Party b welcomes nobody.
func (tab table) joined(t *testing.T, w *writes) []string {
	t.Helper()
	b := newBench(t, tab.terms, tab.data)
	b.writes = map[string]*writes{tab.node: w}
	site, err := os.ReadFile(b.path("b.yaml"))
	check(t, err)
	check(t, os.WriteFile(b.path("b.yaml"), bytes.Replace(site, []byte("dataset: d,"), []byte("dataset: d, welcome: ask,"), 1), 0o600))
	stop := b.serve()
	defer stop()
	ctx, cancel := context.WithCancel(b.context())
	defer cancel()
	ended, first := make(chan error, 3), make(chan struct{}, 100)
	for _, name := range []string{"a", "b"} {
		go func() {
			ended <- b.repeated(name, func() error {
				return b.run(ctx, name, func(p event.Progress) {
					if p.Milestone != event.Waiting {
						return
					}
					if p.Status.State == session.Approved && len(p.Status.From) == 1 {
						b.skew.Store(3700) // only c has not approved: past the close of approval
					}
					if name == "a" && p.Status.State == session.Released && p.Status.WaitFor == wait.Late {
						select {
						case first <- struct{}{}:
						default:
						}
					}
				})
			})
		}()
	}
	select {
	case <-first:
	case <-ctx.Done():
		return []string{"there is no first result"}
	}
	go func() { ended <- b.repeated("c", func() error { return b.run(ctx, "c", nil) }) }()
	for range 3 {
		err = cmp.Or(err, <-ended)
	}
	if err != nil {
		return []string{err.Error()}
	}
	stop()
	return append(b.faults(b.before), b.leftovers(b.parties)...)
}

// carried is a study carried by hand.
func (tab table) carried(t *testing.T, w *writes) []string {
	t.Helper()
	b := newBench(t, tab.terms, tab.data)
	b.writes = map[string]*writes{tab.node: w}
	b.carryAll()
	return append(b.faults(b.before), b.leftovers(b.parties)...)
}
