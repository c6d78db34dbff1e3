package session_test

import (
	"fmt"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wait"
)

// Every state says what the node waits for, from whom and until when. A final state waits for
// nothing. Only analyses have no date.
func TestEveryStateSaysWhatItWaitsFor(t *testing.T) {
	shown := map[session.State]int{}
	look := func(s *protocoltest.Simulation) {
		t.Helper()
		for _, sight := range s.Seen {
			shown[sight.Status.State]++
			if err := complete(s, sight); err != nil {
				t.Errorf("%s at %s is %s: %v", sight.Node, sight.At, sight.Status.State, err)
			}
		}
	}
	two := newStudy(t, protocoltest.Terms{Quorum: 2})
	for seed := range uint64(20) {
		o := protocoltest.Options{Study: two, Seed: seed, Loss: 0.2, Crash: dies(seed, 0.05)}
		whole := approved(t, o)
		check(t, whole.Run())
		look(whole)

		partial := simulate(t, o) // one approves, one withdraws, one is silent, then one more approves
		check(t, partial.Parties[0].Withdraw())
		check(t, partial.Run())
		check(t, partial.Parties[1].Approve())
		check(t, partial.Run())
		if seed%2 == 0 {
			check(t, partial.Parties[2].Approve())
			check(t, partial.Run())
		}
		check(t, partial.Advance(protocoltest.Expires))
		check(t, partial.Run())
		check(t, partial.Advance(protocoltest.Deadline))
		check(t, partial.Run())
		look(partial)
	}
	for _, state := range []session.State{
		session.Invited, session.Approved, session.Committed, session.Shared, session.Confirmed, session.Seeded,
		session.Sketched, session.Released, session.Done, session.Failed, session.Withdrawn,
		session.Open, session.Agreeing, session.Collecting, session.Computing, session.Closed, session.Stopped,
	} {
		if shown[state] == 0 {
			t.Errorf("no node ever showed %q", state)
		}
	}
}

func complete(s *protocoltest.Simulation, sight protocoltest.Sighting) error {
	st := sight.Status
	failed := st.State == session.Failed || st.State == session.Stopped
	switch {
	case failed != (st.Failure != nil):
		return fmt.Errorf("failure %v", st.Failure)
	case st.Terminal() && (st.WaitFor != "" || len(st.From) > 0 || st.Until != 0):
		return fmt.Errorf("waits for %q", st.WaitFor)
	case st.Terminal():
		return nil
	case st.WaitFor == "":
		return fmt.Errorf("waits for nothing")
	case len(st.From) == 0:
		return fmt.Errorf("waits for %s from nobody", st.WaitFor)
	case (st.Until == 0) != (st.State == session.Computing):
		return fmt.Errorf("waits for %s until %d", st.WaitFor, st.Until)
	}
	for _, id := range st.From {
		if _, listed := s.Study.PartyIndex(id); !listed && id != s.Study.Aggregator.ID {
			return fmt.Errorf("waits for %s from the stranger %s", st.WaitFor, id)
		}
	}
	return nil
}

// The states of a good day, in order.
func TestStatesOfAGoodDay(t *testing.T) {
	_, s := completed(t, protocoltest.Options{Seed: 1})
	want := map[string][]session.State{"aggregator": {session.Open, session.Agreeing, session.Collecting, session.Computing, session.Closed}}
	for _, p := range s.Parties {
		want[p.Name] = []session.State{
			session.Approved, session.Committed, session.Shared, session.Confirmed, session.Seeded, session.Sketched, session.Released, session.Done,
		}
	}
	got := map[string][]session.State{}
	for _, sight := range s.Seen {
		states := got[sight.Node]
		if len(states) == 0 || states[len(states)-1] != sight.Status.State {
			got[sight.Node] = append(states, sight.Status.State)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("went through\n%v, want\n%v", got, want)
	}
}

// A party that owes the aggregator something is named until it has arrived, and no longer.
func TestOwingShrinks(t *testing.T) {
	_, s := completed(t, protocoltest.Options{Seed: 7})
	owing := map[wait.Code][]protocol.PeerID{}
	for _, sight := range s.Seen {
		st := sight.Status
		if sight.Node != "aggregator" || st.Terminal() || st.State == session.Computing {
			continue
		}
		before, again := owing[st.WaitFor]
		if again && len(st.From) != len(before)-1 {
			t.Errorf("waits for %s from %d, before that from %d", st.WaitFor, len(st.From), len(before))
		}
		if !again && len(st.From) != len(s.Parties) {
			t.Errorf("waits for %s from %d at first", st.WaitFor, len(st.From))
		}
		owing[st.WaitFor] = st.From
	}
	if len(owing) != 5 {
		t.Errorf("waited for %d things", len(owing))
	}
}
