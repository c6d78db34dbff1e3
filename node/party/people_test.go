package party

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/protocoltest"
)

// Whatever is about to be debited, its people are looked at within the debit: two datasets may both have been
// looked at before either was.
func TestDebitsLookAtPeople(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	if err := store.Create(dir, store.Party, rand.Reader); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(dir, store.Party, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s, err := protocoltest.NewStudy(protocoltest.Terms{})
	if err != nil {
		t.Fatal(err)
	}
	key, err := st.PeopleKey()
	if err != nil {
		t.Fatal(err)
	}
	r := &service{Source: source.Source{PartyOptions: node.PartyOptions{Store: st, Now: func() protocol.Instant { return 1000 }}, Signer: protocoltest.Identity("party 0"), Study: s}}
	for _, name := range []string{"a", "b"} {
		sampler := people.NewSampler(key, dataset.Files(name+".csv"))
		for i := range 100 {
			sampler.Add(fmt.Append(nil, i))
		}
		src := &source.Opened{Data: config.Dataset{Name: name}, People: sampler.Sample()}
		if err := r.Remember(src); err != nil {
			t.Fatal(err)
		}
		if refusal, err := r.Recognised(src, nil); refusal != nil || err != nil {
			t.Fatalf("before anything is debited: %v, %v", refusal, err)
		}
	}
	entry := ledger.Entry{Dataset: "a", Study: s.ID, Aggregator: s.Aggregator.ID, Unit: dp.Record, Attributes: 1, At: 1000, Mechanism: dp.None}
	if _, err := st.Debit(t.Context(), func([]ledger.Entry) ([]ledger.Entry, error) { return []ledger.Entry{entry}, nil }); err != nil {
		t.Fatal(err)
	}
	held := &source.Opened{Data: config.Dataset{Name: "b"}} // nothing was read anew
	due := func([]ledger.Entry) ([]ledger.Entry, error) { return []ledger.Entry{entry}, nil }
	var alike *node.PeopleError
	if err := r.spend(t.Context(), held, due); !errors.As(err, &alike) || alike.Dataset != "b" || alike.Other != "a" {
		t.Errorf("the second name is debited: %v", err)
	}
}
