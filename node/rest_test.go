package node_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Ended studies hold neither a goroutine nor a lock at their aggregator, also after a restart. Each
// is taken up again when one of its parties asks.
func TestEndedStudiesRest(t *testing.T) {
	const studies = 200
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("agg")
	var all []*study.Study
	for i := range studies {
		s, err := file.Parse([]byte(strings.Replace(string(b.study.Source), "nonce: 0001", fmt.Sprintf("nonce: f%03x", i), 1)))
		check(t, err)
		check(t, st.PutStudy(s.ID, s.Source, now()))
		all = append(all, s)
	}
	check(t, st.Close())
	var up atomic.Int64 // seconds
	b.uptime = func() time.Duration { return time.Duration(up.Load()) * time.Second }
	locks := func() int {
		files, err := os.ReadDir(filepath.Join(b.path("agg"), "locks"))
		check(t, err)
		n := 0
		for _, f := range files {
			if len(f.Name()) > 64 { // a study's
				n++
			}
		}
		return n
	}
	before := runtime.NumGoroutine()
	stop := b.serve()
	b.until(func() bool { return b.logged("hosting study") == studies+1 })
	if n := locks(); n != studies+1 {
		t.Errorf("%d locks are held of %d studies", n, studies+1)
	}
	b.skew.Store(3700) // past the close of approval, and past the grace period
	b.until(func() bool { return b.logged("by this machine's clock a date") == studies+1 })
	up.Add(601)
	b.until(func() bool { return b.logged("study ended") == studies+1 })
	up.Add(61)
	const few = 40 // of the node itself and its connections
	b.until(func() bool { return locks() == 0 && runtime.NumGoroutine() < before+few })
	stop()
	stop = b.serve()
	defer stop()
	b.until(func() bool { return b.logged("hosting study") == 2*(studies+1) })
	if n, g := locks(), runtime.NumGoroutine(); n != 0 || g > before+few {
		t.Errorf("after a restart there are %d locks, and %d goroutines where there were %d", n, g, before)
	}

	// A party reads one; another cannot be read while a command at the aggregator holds it.
	party, err := store.Open(b.path("a"), store.Party, store.Options{ReadOnly: true})
	check(t, err)
	defer party.Close()
	host, err := p2p.New(p2p.Config{Key: party.Identity, Allow: func(protocol.PeerID) bool { return true }})
	check(t, err)
	defer host.Close()
	read := func(s *study.Study) (wire.BoardReply, error) {
		raw, err := host.Call(b.context(), s.Aggregator.ID, s.Aggregator.Addrs, "read", wire.EncodeRead(wire.Read{Study: s.ID}))
		if err != nil {
			return wire.BoardReply{}, err
		}
		return wire.DecodeBoardReply(raw, s.ID)
	}
	if reply, err := read(all[7]); err != nil || len(reply.Envelopes) != 1 || reply.Envelopes[0].Kind != protocol.KindStop {
		t.Errorf("the board of one is %+v, %v", reply.Envelopes, err)
	}
	if n := locks(); n != 1 {
		t.Errorf("%d locks are held of one study that is read", n)
	}
	up.Add(61)
	b.until(func() bool { return locks() == 0 })
	agg := b.open("agg")
	defer agg.Close()
	unlock, err := agg.LockStudy(all[8].ID)
	check(t, err)
	var refusal *p2p.Refusal
	if _, err := read(all[8]); !errors.As(err, &refusal) || refusal.Code != p2p.CodeBusy {
		t.Errorf("one that a command has is answered with %v", err)
	}
	unlock()
	if _, err := read(all[8]); err != nil {
		t.Error(err)
	}
	raw, err := agg.Status(all[8].ID)
	check(t, err)
	if s, err := stored.DecodeSnapshot(raw); err != nil || s.State != string(session.Stopped) || s.Trouble != "" {
		t.Errorf("its status is %+v, %v", s, err)
	}
	if n := b.logged("study ended"); n != studies+1 {
		t.Errorf("the log says %d times that a study ended, want once of each of %d", n, studies+1)
	}
}

// gated is a state whose list of studies is blocked until the test opens it.
type gated struct {
	*store.Store
	asked, open chan struct{}
}

func (g gated) Studies() ([]store.StudyEntry, error) {
	select {
	case g.asked <- struct{}{}:
	case <-g.open:
	}
	<-g.open
	return g.Store.Studies()
}

// An aggregator knows its studies before it listens: no party that comes at the start is told that
// it is not admitted.
func TestStudiesAreKnownBeforeAnybodyComes(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("agg")
	defer st.Close()
	g := gated{st, make(chan struct{}), make(chan struct{})}
	made := make(chan error, 1)
	var a *aggregator.Aggregator
	go func() {
		var err error
		a, err = aggregator.New(aggregator.Options{Env: node.AggregatorEnv{Now: b.now, Log: b.logger()}, Store: g, Listen: []string{b.addr}})
		made <- err
	}()
	select {
	case <-g.asked:
	case <-made:
		t.Fatal("it began without asking for the stored studies")
	}
	port := b.addr[strings.LastIndex(b.addr, "/")+1:]
	if c, err := net.Dial("tcp4", "127.0.0.1:"+port); err == nil {
		c.Close()
		t.Error("it listens before it knows the stored studies")
	}
	close(g.open)
	check(t, <-made)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check(t, a.Serve(ctx))
}

// A call that finds a study as it goes to rest is answered nevertheless.
func TestCallsMeetRestingStudies(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	b.runAll(b.context(), b.parties...)
	stop()
	var up atomic.Int64 // minutes
	b.uptime = func() time.Duration { return time.Duration(up.Load()) * time.Minute }
	b.tune = func(o *aggregator.Options) { o.Tick = 300 * time.Microsecond }
	defer b.serve()()
	st := b.open("a")
	defer st.Close()
	host, err := p2p.New(p2p.Config{Key: st.Identity, Allow: func(protocol.PeerID) bool { return true }})
	check(t, err)
	defer host.Close()
	for range 300 {
		up.Add(2) // from the next tick on it may rest once, while the call is on its way or has found it
		if _, err := host.Call(b.context(), b.study.Aggregator.ID, b.study.Aggregator.Addrs, "read", wire.EncodeRead(wire.Read{Study: b.study.ID})); err != nil {
			t.Fatal(err)
		}
	}
}
