package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/store"
)

// A chunk corrupted by the aggregator's disk is named and fetched again from its party, which was
// done. Nobody starts anything again, and the result is of what the party signed.
func TestADamagedChunkIsSentAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a read of the board that brings no news")
	}
	for name, damage := range map[string]func([]byte) []byte{
		"a changed bit": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"cut off":       func(b []byte) []byte { return b[:len(b)/2] },
		"longer":        func(b []byte) []byte { return append(b, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, clustered, points)
			stop := b.serve()
			defer stop()
			ctx := b.context()
			damaged := make(chan struct{})
			observers := map[string]event.Observer{
				"a": func(p event.Progress) {
					if p.Milestone == event.Projected {
						select {
						case <-damaged:
						case <-ctx.Done():
						}
					}
				},
				"b": sync.OnceValue(func() event.Observer {
					var once sync.Once
					return func(p event.Progress) {
						if p.Milestone != event.Uploaded {
							return
						}
						once.Do(func() {
							chunk := b.chunk("b")
							data, err := os.ReadFile(chunk)
							check(t, err)
							check(t, os.WriteFile(chunk, damage(data), 0o600))
							close(damaged)
						})
					}
				})(),
			}
			var all sync.WaitGroup
			for _, party := range []string{"a", "b", "c"} {
				all.Go(func() {
					if err := b.run(ctx, party, observers[party]); err != nil {
						t.Errorf("party %s: %v", party, err)
					}
				})
			}
			all.Wait()
			if !strings.Contains(string(b.logs.Bytes()), "is damaged on this disk") {
				t.Error("the damage is not named in the log")
			}
			stop()
			st := b.open("agg")
			defer st.Close()
			findings, err := local.Fsck(ctx, local.FsckOptions{Store: st, Role: store.Aggregator})
			check(t, err)
			for _, f := range findings {
				if f.Verdict == local.Fail {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// chunk is the path of the first chunk that a party uploaded.
func (b *bench) chunk(party string) string {
	b.t.Helper()
	st, err := store.Open(b.path(party), store.Party, store.Options{ReadOnly: true})
	check(b.t, err)
	defer st.Close()
	id := peerID(b.t, st)
	return filepath.Join(b.path("agg"), "uploads", b.study.ID.String(), id.String(), "sketch-0", "0")
}
