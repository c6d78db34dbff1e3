package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// An aggregator whose store fails retries with growing pauses, logs it once, tells its parties, and
// continues once the store is back. It retries a full disk more often: whoever makes room waits for
// the effect.
func TestBrokenDisk(t *testing.T) {
	t.Run("for no reason known", func(t *testing.T) { brokenDisk(t, nil, "; it tries again from time to time", 300) })
	t.Run("no room", func(t *testing.T) {
		brokenDisk(t, &fs.PathError{Op: "write", Path: "state.db", Err: syscall.ENOSPC}, "disk is full", 15)
	})
}

func brokenDisk(t *testing.T, why error, tells string, longest int64) {
	b := newBench(t, smallSketch, uniform(50))
	w := &writes{why: why}
	b.writes = map[string]*writes{"agg": w}
	st := b.open("agg")
	var clock atomic.Int64
	clock.Store(int64(now()))
	a, err := aggregator.New(aggregator.Options{
		Store: b.state("agg", st), Listen: []string{b.addr}, Tick: 2 * time.Millisecond,
		Env: node.AggregatorEnv{Log: b.logger(), Now: func() protocol.Instant { return protocol.Instant(clock.Load()) }},
	})
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx) }()
	defer func() {
		cancel()
		check(t, <-ended)
		check(t, st.Close())
	}()
	b.until(func() bool { return b.logged("hosting study") == 1 })

	w.broken.Store(true)
	told := make(chan string, 1)
	party, end := context.WithCancel(b.context())
	defer end()
	finished := make(chan error, 1)
	go func() {
		finished <- b.run(party, "a", func(p event.Progress) {
			var refusal *p2p.Refusal
			if errors.As(p.Err, &refusal) && refusal.Code == p2p.CodeBusy {
				select {
				case told <- refusal.Message:
				default:
				}
			}
		})
	}()
	if said := <-told; !strings.Contains(said, tells) {
		t.Errorf("a party is told %q", said)
	}

	// The approval fails, and so does the immediate retry, each with its status. From then on the
	// pauses grow: 1, 2, 4, … seconds.
	trials := func() int64 { return w.tried.Load() }
	settled := func() int64 {
		from := w.looks.Load()
		b.until(func() bool { return w.looks.Load() > from+20 }) // after this many ticks
		return trials()
	}
	before := settled()
	if before < 3 || before > 6 {
		t.Errorf("%d writes were tried at first", before)
	}
	for pause := int64(1); pause <= 512; pause *= 2 {
		length := min(pause, longest)
		clock.Add(length - 1)
		if got := settled(); got != before {
			t.Fatalf("tried again before %d s", length)
		}
		clock.Add(1)
		after := settled()
		if after != before+2 { // what the study stores at its start, and its failure
			t.Fatalf("%d writes after a pause of %d s, want 2", after-before, length)
		}
		before = after
	}
	if got := b.logged("study is not served"); got != 1 {
		t.Errorf("the log says %d times that the study is not served", got)
	}

	w.broken.Store(false)
	clock.Add(300)
	b.until(func() bool { return b.logged("study is served again") == 1 })
	b.until(func() bool {
		return b.status(st.Status).State == string(session.Open) && b.status(st.Status).Trouble == ""
	})
	end()
	<-finished

	// After a good while the backoff is reset: one failure is retried at once. It is b's approval
	// that fails, since a's may be stored by now.
	w.fail, w.counts = nth{"AppendBoard approve", 1}, nil
	clock.Add(600)
	go func() { finished <- b.run(b.context(), "b", nil) }()
	b.until(func() bool { return b.logged("study is not served") == 2 && b.logged("study is served again") == 2 })
	b.runAll(b.context(), "a", "c")
	check(t, <-finished)
}

// status reads a study's stored status.
func (b *bench) status(read func(protocol.StudyID) ([]byte, error)) stored.Snapshot {
	raw, err := read(b.study.ID)
	check(b.t, err)
	s, err := stored.DecodeSnapshot(raw)
	check(b.t, err)
	return s
}

// logged counts the log's lines with a message.
func (b *bench) logged(beginning string) (n int) {
	for line := range bytes.Lines(b.logs.Bytes()) {
		var said struct{ Msg string }
		if json.Unmarshal(line, &said) == nil && strings.HasPrefix(said.Msg, beginning) {
			n++
		}
	}
	return n
}

// until waits for a condition.
func (b *bench) until(so func() bool) {
	b.t.Helper()
	ctx, tick := b.context(), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			b.t.Fatal("it never is")
		case <-tick.C:
		}
	}
}
