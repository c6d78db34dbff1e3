package source

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/store/storetest"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/protocoltest"
)

// People of whom something was released get no second budget under a second dataset name, unless
// the steward says why they are others. A name under which nothing was released does not count.
func TestPeopleAreRecognised(t *testing.T) {
	st := storetest.New(t, store.Party)
	s, err := protocoltest.NewStudy(protocoltest.Terms{})
	if err != nil {
		t.Fatal(err)
	}
	h := &Source{Env: node.PartyEnv{Now: func() protocol.Instant { return 1000 }}, Store: st, Signer: protocoltest.Identity("party 0"), Study: s}
	key, err := st.PeopleKey()
	if err != nil {
		t.Fatal(err)
	}
	about := func(file string, from, to int) people.Sample {
		sampler := people.NewSampler(key, dataset.Files(file))
		for i := from; i < to; i++ {
			sampler.Add(fmt.Append(nil, i))
		}
		return sampler.Sample()
	}
	of := func(name string, sample people.Sample, apart map[string]string) *Dataset {
		return &Dataset{Data: config.Dataset{Name: name, ApartFrom: apart}, People: sample}
	}
	released := []ledger.Entry{{Dataset: "a"}}
	if err := h.Remember(of("a", about("a.csv", 0, 100), nil)); err != nil {
		t.Fatal(err)
	}
	if err := h.Remember(of("a", about("a.csv", 100, 120), nil)); err != nil { // other people since
		t.Fatal(err)
	}
	if err := h.Remember(of("held", about("held.csv", 50, 150), nil)); err != nil { // before a was released
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		src     *Dataset
		entries []ledger.Entry
		why     people.Match
	}{
		"the same name":                 {of("a", about("a.csv", 0, 200), nil), released, people.Unlike},
		"another name":                  {of("b", about("b.csv", 0, 100), nil), released, people.SameIDs},
		"those who came later":          {of("b", about("b.csv", 100, 120), nil), released, people.SameIDs},
		"another name, the same file":   {of("b", about("a.csv", 500, 600), nil), released, people.SamePlace},
		"before anything was released":  {of("b", about("b.csv", 0, 100), nil), nil, people.Unlike},
		"others, by the steward's word": {of("b", about("b.csv", 0, 100), map[string]string{"a": "another register"}), released, people.Unlike},
		"the word of another":           {of("b", about("b.csv", 0, 100), map[string]string{"c": "another register"}), released, people.SameIDs},
		"those of a held sketch":        {of("held", people.Sample{}, nil), released, people.SameIDs},
		"others":                        {of("b", about("b.csv", 500, 600), nil), released, people.Unlike},
	} {
		refusal, err := h.CheckPeople(test.src, test.entries)
		var alike *node.PeopleError
		if err != nil {
			t.Fatal(err)
		}
		if errors.As(refusal, &alike) != (test.why != people.Unlike) || alike != nil && (alike.Why != test.why || alike.Other != "a") {
			t.Errorf("%s: %v, want %q", name, refusal, test.why)
		}
	}
}

// People are checked within the debit: two datasets may both have been checked before either was
// debited.
func TestDebitsLookAtPeople(t *testing.T) {
	st := storetest.New(t, store.Party)
	s, err := protocoltest.NewStudy(protocoltest.Terms{})
	if err != nil {
		t.Fatal(err)
	}
	key, err := st.PeopleKey()
	if err != nil {
		t.Fatal(err)
	}
	r := &Source{Env: node.PartyEnv{Now: func() protocol.Instant { return 1000 }}, Store: st, Signer: protocoltest.Identity("party 0"), Study: s}
	for _, name := range []string{"a", "b"} {
		sampler := people.NewSampler(key, dataset.Files(name+".csv"))
		for i := range 100 {
			sampler.Add(fmt.Append(nil, i))
		}
		src := &Dataset{Data: config.Dataset{Name: name}, People: sampler.Sample()}
		if err := r.Remember(src); err != nil {
			t.Fatal(err)
		}
		if refusal, err := r.CheckPeople(src, nil); refusal != nil || err != nil {
			t.Fatalf("before anything is debited: %v, %v", refusal, err)
		}
	}
	entry := ledger.Entry{Dataset: "a", Study: s.ID, Aggregator: s.Aggregator.ID, Unit: dp.Record, Attributes: 1, At: 1000, Mechanism: dp.None}
	if _, err := st.Debit(t.Context(), func([]ledger.Entry) ([]ledger.Entry, error) { return []ledger.Entry{entry}, nil }); err != nil {
		t.Fatal(err)
	}
	held := &Dataset{Data: config.Dataset{Name: "b"}} // nothing was read again
	due := func([]ledger.Entry) ([]ledger.Entry, error) { return []ledger.Entry{entry}, nil }
	var alike *node.PeopleError
	if err := r.Spend(t.Context(), held, due); !errors.As(err, &alike) || alike.Dataset != "b" || alike.Other != "a" {
		t.Errorf("the second name is debited: %v", err)
	}
}
