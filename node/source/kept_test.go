package source

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/store/storetest"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

// What the second round of a study will need of a budget is reserved once the first was debited.
// The first is not debited if the second would not fit.
func TestTheSecondRoundIsKept(t *testing.T) {
	st := storetest.New(t, store.Party)
	two := newStudy(t, protocoltest.Terms{Rounds: true})
	other := newStudy(t, protocoltest.Terms{Rounds: true, Nonce: 7})
	for _, s := range []*study.Study{two, other} {
		if err := st.PutStudy(s.ID, s.Source, 0); err != nil {
			t.Fatal(err)
		}
	}
	now := protocol.Instant(1000)
	of := func(s *study.Study) *Source {
		return &Source{Env: node.PartyEnv{Now: func() protocol.Instant { return now }}, Store: st, Signer: protocoltest.Identity("party 0"), Study: s}
	}
	whole := two.Privacy.Epsilon
	opened := func(s *study.Study, times dp.Epsilon, first bool) *Dataset {
		src := &Dataset{Data: config.Dataset{Name: "d", Caps: config.Caps{Record: config.Budget{Epsilon: times * whole, Delta: two.Privacy.Delta}}}}
		party, _ := s.PartyIndex(protocoltest.Identity("party 0").ID())
		for i := range s.Sketches {
			plan, err := release.For(s, party, i)
			if err != nil {
				t.Fatal(err)
			}
			if !first || !s.SecondRound(i) {
				src.Plans = append(src.Plans, plan)
			}
		}
		return src
	}
	refused := func(why string, err error) *ledger.Exceeded {
		t.Helper()
		var exceeded *ledger.Exceeded
		if !errors.As(err, &exceeded) {
			t.Fatalf("%s: %v", why, err)
		}
		return exceeded
	}

	// The first round alone fits, both do not.
	_, err := of(two).Debits(opened(two, 0.9, true), nil)
	refused("a first round without room for the second", err)
	first, err := of(two).Debits(opened(two, 1, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	var entries []ledger.Entry
	for _, e := range first {
		if entries, err = Chain(entries, e); err != nil {
			t.Fatal(err)
		}
	}
	// Between the rounds.
	exceeded := refused("another study in the room of a second round", func() error {
		_, err := of(other).Debits(opened(other, 1.3, false), entries)
		return err
	}())
	if exceeded.Kept <= 0 || exceeded.Spent >= whole {
		t.Errorf("kept %v, spent %v", exceeded.Kept, exceeded.Spent)
	}
	if due, err := of(two).Debits(opened(two, 1, false), entries); err != nil || len(due) != len(two.Sketches)-len(first) {
		t.Errorf("the second round itself: %d due, %v", len(due), err)
	}
	if _, err := of(other).Debits(opened(other, 2, false), entries); err != nil {
		t.Errorf("another study beside both rounds: %v", err)
	}
	// Once the study has ended or was stopped, nothing is reserved.
	for name, end := range map[string]func() (undo func()){
		"after its last date": func() func() {
			now = two.Closes()
			return func() { now = 1000 }
		},
		"stopped": func() func() {
			raw, err := json.Marshal(stored.Snapshot{Study: two.ID.String(), State: string(session.Failed), Cause: session.StopOperator})
			if err == nil {
				err = st.PutStatus(two.ID, raw)
			}
			if err != nil {
				t.Fatal(err)
			}
			return func() {}
		},
	} {
		undo := end()
		if kept, err := SecondRounds(st, protocoltest.Identity("party 0").ID(), "d", now, entries); err != nil || len(kept) > 0 {
			t.Errorf("%s: %d debits are kept (%v)", name, len(kept), err)
		}
		undo()
	}
}

func newStudy(t *testing.T, terms protocoltest.Terms) *study.Study {
	t.Helper()
	s, err := protocoltest.NewStudy(terms)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
