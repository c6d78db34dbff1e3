package session_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wait"
)

// Random schedules never leave the tables, and cover each row.
func TestTransitionsHoldTheMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and machines run in one goroutine")
	}
	rows := map[bool]map[session.State]session.Transition{true: {}, false: {}}
	for aggregator, table := range map[bool][]session.Transition{true: session.AggregatorTransitions(), false: session.PartyTransitions()} {
		for _, row := range table {
			if _, twice := rows[aggregator][row.State]; twice {
				t.Errorf("%s has two rows", row.State)
			}
			rows[aggregator][row.State] = row
			last := session.Status{State: row.State}.Terminal()
			if last != (row.Owner == "") || last != (row.Until == "") || last != (len(row.Waits) == 0) || last != (len(row.Next) == 0) {
				t.Errorf("%s: a last state waits for nothing, and every other has an owner and an end", row.State)
			}
		}
		for _, row := range table {
			for _, next := range row.Next {
				if _, known := rows[aggregator][next]; !known {
					t.Errorf("%s leads to %s, which has no row", row.State, next)
				}
			}
		}
	}
	var played [][]protocoltest.Sighting
	schedules := uint64(300)
	if full() {
		schedules = 800
	}
	for seed := range schedules {
		r, err := protocoltest.Random(seed)
		if err != nil {
			t.Fatal(err)
		}
		played = append(played, r.Seen)
	}
	for seed := range uint64(10) { // where the last confirmation may be the wrong one
		s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2}), Seed: seed})
		for _, role := range protocoltest.Roles(rand.New(rand.NewPCG(seed, 0))) {
			if role.Name == "wrong confirmation" {
				s.Parties[seed%3].Role = role
			}
		}
		check(t, s.Run())
		played = append(played, s.Seen)
	}
	for seed := range uint64(16) { // where masked sums are void, and nodes crash
		s, err := protocoltest.New(protocoltest.Options{
			Study: newStudy(t, protocoltest.Terms{Parties: 4, Quorum: 3, Masked: true}), Seed: seed,
			Crash: func(point int) bool { return point%int(9+seed) == 0 },
		})
		check(t, err)
		for _, role := range protocoltest.Roles(rand.New(rand.NewPCG(seed, 0))) {
			if role.Name == "no release" {
				s.Parties[seed%4].Role = role
			}
		}
		check(t, s.Play(nil))
		check(t, s.Check())
		played = append(played, s.Seen)
	}
	for seed := range uint64(16) { // where a member is lost in the first of two rounds
		s, err := protocoltest.New(protocoltest.Options{
			Study: newStudy(t, protocoltest.Terms{Parties: 4, Quorum: 3, Masked: seed%2 == 0, Rounds: true}), Seed: seed,
			Crash: func(point int) bool { return point%int(19+seed) == 0 },
		})
		check(t, err)
		for _, role := range protocoltest.Roles(rand.New(rand.NewPCG(seed, 0))) {
			if role.Name == "no first round" {
				s.Parties[seed%4].Role = role
			}
		}
		check(t, s.Play(nil))
		check(t, s.Check())
		played = append(played, s.Seen)
	}
	type step struct{ from, to session.State }
	steps, waits := map[step]bool{}, map[wait.Code]bool{}
	for _, seen := range played {
		before := map[string]session.State{}
		for _, sight := range seen {
			aggregator := sight.Node == "aggregator"
			row, known := rows[aggregator][sight.Status.State]
			if !known {
				t.Fatalf("%s is %s, which has no row", sight.Node, sight.Status.State)
			}
			waits[sight.Status.WaitFor] = true
			if sight.Status.WaitFor != "" && !slices.Contains(row.Waits, sight.Status.WaitFor) {
				t.Errorf("%s is %s and waits for %q, which the table does not say", sight.Node, row.State, sight.Status.WaitFor)
			}
			from, seen := before[sight.Node]
			before[sight.Node] = row.State
			if !seen || from == row.State || ends(row.State) {
				continue
			}
			steps[step{from, row.State}] = true
			if !slices.Contains(rows[aggregator][from].Next, row.State) && !restart(from, row.State) {
				t.Errorf("%s went from %s to %s, which the table does not say", sight.Node, from, row.State)
			}
		}
	}
	for aggregator, table := range rows {
		for _, row := range table {
			for _, next := range row.Next {
				if !steps[step{row.State, next}] && !ends(next) {
					t.Errorf("aggregator %v: no schedule led from %s to %s", aggregator, row.State, next)
				}
			}
			for _, w := range row.Waits {
				if !waits[w] {
					t.Errorf("no node ever waited for %q", w)
				}
			}
		}
	}
}

// ends reports whether a state is final: it can follow every other.
func ends(s session.State) bool { return session.Status{State: s}.Terminal() }

// restart reports whether a step back is allowed after a crash: the node repeats what it did.
func restart(from, to session.State) bool {
	return from == session.Computing && to == session.Collecting || from == session.Released && to == session.Sketched ||
		(from == session.Seeded || from == session.Halfway) && to == session.Confirmed || from == session.Approved && to == session.Invited ||
		from == session.Joining && (to == session.Invited || to == session.Approved)
}
