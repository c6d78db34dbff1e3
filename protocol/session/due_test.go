package session_test

import (
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
)

// due makes a machine from the simulated aggregator's board, sets its time, and returns its due
// date.
func due(t *testing.T, s *protocoltest.Simulation, now protocol.Instant) protocol.Instant {
	t.Helper()
	a, err := session.NewAggregator(session.AggregatorConfig{Study: s.Study, Signer: s.Aggregator.Signer})
	check(t, err)
	check(t, a.Restore(s.Aggregator.Stored))
	if now != 0 {
		_, err := a.Step(session.Tick{Now: now})
		check(t, err)
	}
	return a.Due()
}

// The due date is the first at which the study advances. Before it nothing happens by the time
// alone.
func TestDue(t *testing.T) {
	is := func(s *protocoltest.Simulation, now, want protocol.Instant) {
		t.Helper()
		if got := due(t, s, now); got != want {
			t.Errorf("%s, told %s: due at %s, want %s", s.Aggregator.Status().State, now, got, want)
		}
	}
	s := simulate(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Parties: 4, Quorum: 3, Late: true})})
	is(s, 0, s.Study.Expires)
	late := s.Parties[3]
	for _, p := range s.Parties[:3] {
		check(t, p.Approve())
	}
	check(t, s.Run())
	before := len(s.Aggregator.Stored)
	check(t, s.Advance(due(t, s, 0)-1))
	if got := len(s.Aggregator.Stored); got != before {
		t.Errorf("%d envelopes came before the date that is due", got-before)
	}
	gone := s.Parties[2]
	gone.Away = true
	check(t, s.Advance(s.Study.Expires))
	if got := len(s.Aggregator.Stored); got != before+1 {
		t.Errorf("%d envelopes came at the date that is due", got-before)
	}
	is(s, 0, s.Study.AgreeBy(1))
	is(s, s.Study.AgreeBy(1)-1, s.Study.AgreeBy(1))
	gone.Away = false
	check(t, s.RunUntil(func() bool { return countOf(s, protocol.KindConfirm) == 3 }))
	is(s, 0, s.Study.Deadline)
	is(s, s.Study.Deadline, s.Study.LateUntil)
	check(t, s.Run())
	if countOf(s, protocol.KindResult) != 1 {
		t.Fatal("there is no result")
	}
	is(s, 0, s.Study.LateUntil)
	late.Away = true
	check(t, s.Advance(s.Study.LateUntil))
	is(s, 0, 0)

	open := approved(t, protocoltest.Options{})
	is(open, 0, open.Study.Expires)
	check(t, open.Run())
	is(open, 0, 0)

	rounds := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2, Rounds: true})})
	rounds.Parties[0].Away, rounds.Parties[0].Excused = true, true
	check(t, rounds.Run())
	check(t, rounds.Advance(rounds.Study.Expires))
	check(t, rounds.RunUntil(func() bool { return countOf(rounds, protocol.KindConfirm) == 2 }))
	is(rounds, 0, rounds.Study.FirstBy())
	is(rounds, rounds.Study.FirstBy(), rounds.Study.Deadline)
}
