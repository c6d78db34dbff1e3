package node_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
)

// A date that has passed by one clock alone is laid to the clocks, and to which.
func TestAClockADayOff(t *testing.T) {
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
			p, err := node.NewParty(options)
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

// One node's key in another's directory is noticed before anything is signed with it.
func TestSwappedKeys(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	ctx, cancel := context.WithCancel(b.context())
	defer cancel()
	approved := func(p node.Progress) {
		if p.Milestone == node.Persisted {
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
	var strange *node.StrangeIdentityError
	if err := b.run(b.context(), "a", nil); !errors.As(err, &strange) {
		t.Fatalf("with another's key: %v", err)
	}
}
