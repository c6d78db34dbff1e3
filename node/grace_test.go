package node_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/session"
)

// slow is an aggregator whose clocks the test controls.
type slow struct {
	*bench
	ahead atomic.Int64 // seconds by which its clock is ahead of the bench's
	up    atomic.Int64 // its uptime, in seconds
	looks atomic.Int64 // how often it read the clock
}

func newSlow(t *testing.T) *slow {
	s := &slow{bench: newBench(t, smallSketch, uniform(50))}
	s.uptime = func() time.Duration { return time.Duration(s.up.Load()) * time.Second }
	return s
}

// host runs the aggregator until stop is called.
func (s *slow) host() (stop func()) {
	s.t.Helper()
	st := s.open("agg")
	a, err := aggregator.New(aggregator.Options{
		Store: st, Listen: []string{s.addr}, Tick: 2 * time.Millisecond, Uptime: s.uptime,
		Env: node.AggregatorEnv{Log: s.logger(), Now: func() protocol.Instant {
			s.looks.Add(1)
			return s.now() + protocol.Instant(s.ahead.Load())
		}},
	})
	check(s.t, err)
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx) }()
	return func() {
		cancel()
		check(s.t, <-ended)
		check(s.t, st.Close())
	}
}

// stands returns the stored status once the aggregator has read its clock many times, or when the
// study has ended: then it need not read it.
func (s *slow) stands() stored.Snapshot {
	s.t.Helper()
	st := s.open("agg")
	defer st.Close()
	from := s.looks.Load()
	s.until(func() bool {
		if s.looks.Load() > from+20 {
			return true
		}
		raw, err := st.Status(s.study.ID)
		if err != nil {
			return false // no status yet
		}
		shown, err := stored.DecodeSnapshot(raw)
		return err == nil && !shown.Active()
	})
	return s.status(st.Status)
}

const passed = "by this machine's clock a date of the study has passed"

// An aggregator that starts with a clock a day ahead reports it and stops nothing. Parties that
// come meanwhile are in time. With the clock set right, it goes on.
func TestAggregatorsClockADayAheadLosesNothing(t *testing.T) {
	s := newSlow(t)
	s.ahead.Store(86400)
	stop := s.host()
	s.until(func() bool { return s.logged(passed) == 1 })
	ctx, cancel := context.WithCancel(s.context())
	err := s.run(ctx, "a", func(p event.Progress) {
		if p.Milestone == event.Waiting && p.Status.State == session.Approved && len(p.Status.From) == 2 {
			cancel() // its approval is on the board
		}
	})
	if ctx.Err() == nil {
		t.Errorf("party a ended with %v", err)
	}
	if got := s.stands(); got.State != string(session.Open) || got.Grace == "" {
		t.Errorf("the study is %s, and the status says %q", got.State, got.Grace)
	}
	stop()
	s.ahead.Store(0)
	stop = s.host()
	defer stop()
	if got := s.stands(); got.State != string(session.Open) || got.Grace != "" || len(got.From) != 2 {
		t.Errorf("with the right clock the study is %s, waits for %v, and the status says %q", got.State, got.From, got.Grace)
	}
	s.runAll(s.context(), s.parties...)
	if n := s.logged(passed); n != 1 {
		t.Errorf("it warned %d times", n)
	}
}

// If nobody comes, the study stops when the grace period is over, and not before.
func TestMissedDateCountsAfterAWhile(t *testing.T) {
	s := newSlow(t)
	s.skew.Store(3700) // past the close of approval
	defer s.host()()
	s.until(func() bool { return s.logged(passed) == 1 })
	s.up.Store(599)
	if got := s.stands(); got.State != string(session.Open) {
		t.Fatalf("a second early the study is %s: %s", got.State, got.Failure)
	}
	s.up.Store(600)
	if got := s.stands(); got.State != string(session.Stopped) || got.Grace != "" {
		t.Errorf("afterwards the study is %s, and the status says %q", got.State, got.Grace)
	}
}

// A release made in time counts even if its party comes after the deadline, once the aggregator is
// back.
func TestPartyComesAfterAMissedDeadline(t *testing.T) {
	s := newSlow(t)
	stop := s.host()
	parties := s.without("c", event.Stored)
	stop()
	s.skew.Store(8000) // past the deadline, by everybody's clock
	stop = s.host()
	defer stop()
	s.until(func() bool { return s.logged(passed) == 1 })
	s.runAll(s.context(), "c")
	parties.Wait()
	st := s.open("b")
	defer st.Close()
	r, _, err := stored.Result(st, s.study.ID)
	check(t, err)
	if r.Completeness != analysis.Full || len(r.Parties) != 3 {
		t.Errorf("%s result of %d parties", r.Completeness, len(r.Parties))
	}
}

// Each of several missed dates has its own grace period: the roster is fixed after the first, and
// the study is not stopped with it.
func TestMissedDatesCountOneAfterTheOther(t *testing.T) {
	s := newSlow(t)
	stop := s.host()
	for _, name := range []string{"a", "b"} {
		ctx, cancel := context.WithCancel(s.context())
		err := s.run(ctx, name, func(p event.Progress) {
			if p.Milestone == event.Waiting && p.Status.State == session.Approved && len(p.Status.From) < 3 {
				cancel()
			}
		})
		if ctx.Err() == nil {
			t.Errorf("party %s ended with %v", name, err)
		}
		cancel()
	}
	stop()
	s.skew.Store(8000) // past the deadline
	defer s.host()()
	for i, state := range []session.State{session.Open, session.Agreeing, session.Agreeing} {
		s.up.Store(int64(600 * i))
		s.until(func() bool { return s.logged(passed) == i+1 })
		if got := s.stands(); got.State != string(state) {
			t.Fatalf("after %d whiles the study is %s: %s", i, got.State, got.Failure)
		}
	}
	s.up.Store(1800)
	if got := s.stands(); got.State != string(session.Stopped) {
		t.Errorf("in the end the study is %s", got.State)
	}
}

// A leap of the clock by a day while the aggregator runs is treated in the same way: the clock may
// be wrong, or the machine slept. Once it is set right, nothing waits.
func TestClockLeaps(t *testing.T) {
	s := newSlow(t)
	defer s.host()()
	if got := s.stands(); got.State != string(session.Open) {
		t.Fatalf("the study is %s", got.State)
	}
	s.ahead.Store(86400)
	s.until(func() bool { return s.logged(passed) == 1 })
	if got := s.stands(); got.State != string(session.Open) || got.Grace == "" {
		t.Errorf("the study is %s, and the status says %q", got.State, got.Grace)
	}
	s.ahead.Store(0)
	if got := s.stands(); got.Grace != "" {
		t.Errorf("with the right clock the status says %q", got.Grace)
	}
	s.runAll(s.context(), s.parties...)
}

// If a clock reaches a date evenly, there is no grace period: everybody has seen the date coming.
func TestDateThatIsSeenCountsAtOnce(t *testing.T) {
	s := newSlow(t)
	defer s.host()()
	if got := s.stands(); got.State != string(session.Open) {
		t.Fatalf("the study is %s", got.State)
	}
	for range 40 { // steps shorter than a leap
		s.skew.Add(100)
		from := s.looks.Load()
		s.until(func() bool { return s.looks.Load() > from+4 })
	}
	if got := s.stands(); got.State != string(session.Stopped) || s.logged(passed) != 0 {
		t.Errorf("the study is %s after %d warnings", got.State, s.logged(passed))
	}
}
