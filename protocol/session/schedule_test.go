package session_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/cosketch/cosketch/protocol/protocoltest"
)

// The full trace of three parties, in one order of events.
func TestTraceOfAGoodDay(t *testing.T) {
	s := approved(t, protocoltest.Options{Seed: 1})
	check(t, s.Run())
	finished(t, s)
	golden(t, "good-day.txt", s.Trace())
}

// The same study on a bad day: messages are lost or late, and nodes crash.
func TestTraceOfABadDay(t *testing.T) {
	s := approved(t, protocoltest.Options{Seed: 5, Loss: 0.3, Crash: dies(5, 0.1)})
	check(t, s.Run())
	finished(t, s)
	golden(t, "bad-day.txt", s.Trace())
}

// dies makes nodes crash at random points.
func dies(seed uint64, probability float64) func(int) bool {
	r := rand.New(rand.NewPCG(seed, 1))
	return func(int) bool { return r.Float64() < probability }
}

// full reports whether the slow, thorough form of the tests is requested.
func full() bool { return os.Getenv("COSKETCH_FULL") == "1" }

// Every party ends with the result under one seed, having sent one message of each kind. This holds
// for any order of events, whatever the network loses, repeats or delays, and wherever nodes crash.
// The simulation itself checks the machines' contract (see package protocoltest).
func TestEveryScheduleEndsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and machines run in one goroutine")
	}
	schedules := uint64(120)
	if full() {
		schedules = 3000
	}
	studies := []protocoltest.Terms{{Parties: 2}, {Parties: 3}, {Parties: 3, Quorum: 2}, {Parties: 4, Quorum: 3}}
	for i, terms := range studies {
		st := newStudy(t, terms)
		for seed := range schedules / uint64(len(studies)) {
			seed := 1000*uint64(i) + seed
			s, err := protocoltest.New(protocoltest.Options{
				Study: st, Seed: seed, Loss: float64(seed%3) * 0.25, Crash: dies(seed, float64(seed%4)*0.08),
			})
			check(t, err)
			check(t, s.ApproveAll())
			err = s.Run()
			if err == nil {
				finished(t, s)
			}
			if err != nil || t.Failed() {
				t.Fatalf("seed %d of %+v: %v\n%s", seed, terms, err, s.Trace())
			}
		}
	}
}

// One crash at each possible point, in one order of events.
func TestDeathAtEachPoint(t *testing.T) {
	st := newStudy(t, protocoltest.Terms{})
	_, calm := completed(t, protocoltest.Options{Study: st, Seed: 2})
	if calm.Points < 60 {
		t.Fatalf("a study has only %d points to die at", calm.Points)
	}
	for at := range calm.Points {
		s, err := protocoltest.New(protocoltest.Options{Study: st, Seed: 2, Crash: func(n int) bool { return n == at+1 }})
		check(t, err)
		check(t, s.ApproveAll())
		err = s.Run()
		if err == nil {
			finished(t, s)
		}
		if err != nil || t.Failed() {
			t.Fatalf("death at point %d: %v\n%s", at+1, err, s.Trace())
		}
	}
}
