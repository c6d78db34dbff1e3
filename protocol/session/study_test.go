package session_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata")

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newStudy(t testing.TB, terms protocoltest.Terms) *study.Study {
	t.Helper()
	s, err := protocoltest.NewStudy(terms)
	check(t, err)
	return s
}

// simulate starts a simulation, and prints its trace if the test fails.
func simulate(t testing.TB, o protocoltest.Options) *protocoltest.Simulation {
	t.Helper()
	s, err := protocoltest.New(o)
	check(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("trace:\n%s", s.Trace())
		}
	})
	return s
}

// approved returns a simulation in which every steward has approved.
func approved(t testing.TB, o protocoltest.Options) *protocoltest.Simulation {
	t.Helper()
	s := simulate(t, o)
	check(t, s.ApproveAll())
	return s
}

// finished checks that the study was successful on every node, and that all parties used one seed.
func finished(t testing.TB, s *protocoltest.Simulation) {
	t.Helper()
	if got := s.Aggregator.Status(); got.State != session.Closed {
		t.Errorf("the aggregator is %s (%v)", got.State, got.Failure)
	}
	first := s.Parties[0]
	for _, p := range s.Parties {
		if got := p.Status(); got.State != session.Done || p.Over != nil {
			t.Errorf("%s is %s (%v, %v)", p.Name, got.State, got.Failure, p.Over)
		}
		if p.Seed != first.Seed || p.T2 != first.T2 || p.T2 == (protocol.Digest{}) {
			t.Errorf("%s and %s ended with different seeds or transcripts, or none", p.Name, first.Name)
		}
		gone := p.Store.Destroyed[0] || s.Study.Masked() && p.Store.Destroyed[1] // masks belong to an attempt
		if len(p.Store.Secrets) > 0 || !gone {
			t.Errorf("%s still has secrets", p.Name)
		}
		if n := len(p.Store.Own); n != 5 {
			t.Errorf("%s signed %d messages, want approve, commit, share, confirm and release", p.Name, n)
		}
	}
	if n := len(s.Aggregator.Stored); n != 5*len(s.Parties)+2 {
		t.Errorf("the board has %d messages", n)
	}
}

// golden compares a text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		check(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	check(t, err)
	if got != string(want) {
		t.Errorf("%s differs (-update rewrites it):\n%s", path, got)
	}
}

// completed returns the board of a successful study, and its simulation.
func completed(t testing.TB, o protocoltest.Options) (protocoltest.Board, *protocoltest.Simulation) {
	t.Helper()
	s, err := protocoltest.New(o)
	check(t, err)
	check(t, s.ApproveAll())
	check(t, s.Run())
	finished(t, s)
	return s.Aggregator.Board(), s
}

// upTo returns how many messages of a board precede the first of a kind.
func upTo(b protocoltest.Board, kind protocol.Kind) int {
	n := slices.IndexFunc(b.Envelopes, func(e protocol.Verified) bool { return e.Kind() == kind })
	if n < 0 {
		return len(b.Envelopes)
	}
	return n
}

// blamed checks that an error is a fault of the culprit, and what it wraps.
func blamed(t testing.TB, err error, culprit protocol.PeerID, want error) {
	t.Helper()
	var f *protocol.Fault
	if !errors.As(err, &f) {
		t.Errorf("no fault: %v", err)
		return
	}
	if f.Culprit != culprit {
		t.Errorf("blames %s, not %s: %v", f.Culprit, culprit, err)
	}
	if want != nil && !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}
