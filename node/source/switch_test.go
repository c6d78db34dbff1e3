package source

import (
	"errors"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/release"
)

// A debit that an interrupted run made for one dataset does not pay for another to which the
// steward has since moved the study: the account and caps of the new one count. For the same
// dataset the debit is found.
func TestASwitchedDatasetIsDueAnew(t *testing.T) {
	s, err := protocoltest.NewStudy(protocoltest.Terms{})
	if err != nil {
		t.Fatal(err)
	}
	var plans []release.Plan
	for i := range s.Sketches {
		p, err := release.For(s, 0, i)
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, p)
	}
	h := &Source{Env: node.PartyEnv{Now: func() protocol.Instant { return 1000 }}, Signer: protocoltest.Identity("party 0"), Study: s}
	of := func(name string, epsilon dp.Epsilon) *Dataset {
		return &Dataset{Data: config.Dataset{Name: name, Caps: config.Caps{Attribute: config.Budget{Epsilon: epsilon}}}, Plans: plans}
	}
	debited, err := h.Debits(of("a", 100), nil)
	if err != nil || len(debited) != len(plans) {
		t.Fatalf("%d debits of %d sketches: %v", len(debited), len(plans), err)
	}
	var entries []ledger.Entry
	for _, e := range debited {
		if entries, err = Chain(entries, e); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := h.Debits(of("a", 100), entries); err != nil || len(again) > 0 {
		t.Errorf("of the same dataset %d debits are due again (%v)", len(again), err)
	}
	var exceeded *ledger.Exceeded
	if _, err := h.Debits(of("b", 0.001), entries); !errors.As(err, &exceeded) || exceeded.Dataset != "b" {
		t.Errorf("a debit of a lets b pass its cap: %v", err)
	}
	due, err := h.Debits(of("b", 100), entries)
	if err != nil || len(due) != len(plans) {
		t.Fatalf("of b %d debits of %d sketches are due: %v", len(due), len(plans), err)
	}
	for _, e := range due {
		if entries, err = Chain(entries, e); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b"} {
		if spent := ledger.Total(entries, ledger.Account{Dataset: name, Unit: dp.Attribute, Delta: 1e-6}); spent.Releases != len(plans) {
			t.Errorf("%s has spent %v", name, spent)
		}
	}
}
