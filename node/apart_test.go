package node_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
)

func apart() terms {
	w := smallSketch
	w.more = "sealed: apart\n"
	return w
}

// Sealed texts that travel apart from their shares: every member agrees using those sealed to it. A
// member's board has no others, and the aggregator's board has none.
func TestSealedTextsApart(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(*bench){
		"over the network": func(b *bench) {
			stop := b.serve()
			defer stop()
			b.runAll(b.context(), b.parties...)
		},
		"by hand": func(b *bench) { b.carryAll() },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, apart(), uniform(50))
			play(b)
			for _, name := range append([]string{"agg"}, b.parties...) {
				st := b.open(name)
				board, err := stored.Board(st, b.study.ID)
				check(t, err)
				self, err := st.ID()
				check(t, err)
				check(t, st.Close())
				shares := 0
				for _, e := range board {
					if e.Kind() != protocol.KindShare {
						continue
					}
					shares++
					want := 1
					if name == "agg" || e.Sender() == self {
						want = 0
					}
					if texts, path := e.Beside(); len(texts) != want || len(path) != 2*want {
						t.Errorf("on the board of %s: %d texts and a path of %d beside %s", name, len(texts), len(path), e)
					}
				}
				if shares != 3 {
					t.Errorf("%d shares on the board of %s", shares, name)
				}
			}
		})
	}
}

// A text corrupted by the aggregator's disk is named there. No member gets it, or it would blame
// the aggregator publicly.
func TestSealedTextsAreDamaged(t *testing.T) {
	t.Parallel()
	b := newBench(t, apart(), uniform(50))
	b.carryAll()
	files, err := filepath.Glob(filepath.Join(b.path("agg"), "sealed", "*", "*", "*"))
	check(t, err)
	if len(files) != 3 {
		t.Fatalf("%d files of sealed texts", len(files))
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		check(t, err)
		for i := range data {
			data[i] ^= 1
		}
		check(t, os.WriteFile(name, data, 0o600))
	}
	st := b.open("agg")
	defer st.Close()
	err = aggregator.ExportBoard(b.deskOptions(st), b.study, b.study.Parties[0].ID, io.Discard)
	var damaged *stored.DamagedError
	if !errors.As(err, &damaged) {
		t.Errorf("a damaged text is handed out: %v", err)
	}
}

// Sealed texts count towards a study's quota of the aggregator's disk. If those of all parties and
// attempts do not fit, none are accepted, and the senders are told.
func TestSealedTextsBeyondTheQuota(t *testing.T) {
	t.Parallel()
	b := newBench(t, apart(), uniform(50))
	b.tune = func(o *aggregator.Options) { o.Quotas.Disk = 3*3*3*(1232+2*32) - 1 }
	stop := b.serve()
	defer stop()
	ctx, cancel := context.WithCancel(b.context())
	defer cancel()
	var refused atomic.Int64
	var all sync.WaitGroup
	for _, name := range b.parties {
		all.Go(func() {
			err := b.run(ctx, name, nil)
			var refusal *p2p.Refusal
			if errors.As(err, &refusal) && refusal.Code == p2p.CodeTooLarge && strings.Contains(refusal.Message, "what 3 parties seal to each other in 3 attempts, take about 1 MiB of disk at the aggregator") {
				if refused.Add(1) == 3 {
					cancel()
				}
			} else {
				t.Errorf("party %s: %v", name, err)
			}
		})
	}
	all.Wait()
	if files, err := filepath.Glob(filepath.Join(b.path("agg"), "sealed", "*", "*", "*")); err != nil || len(files) > 0 {
		t.Errorf("%d files of sealed texts, %v", len(files), err)
	}
}

// Sealed texts wait for room like releases.
func TestNoRoomForSealedTexts(t *testing.T) {
	t.Parallel()
	b := newBench(t, apart(), uniform(50))
	b.waitForRoom(990+3*(1232+2*32)-1, "has no room for 3.89 kB more")
}
