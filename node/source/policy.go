package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// Permitted checks the rules that do not depend on the seed, before anything is sent: the people of
// the dataset, the rule for sketches without noise, and the dataset's caps given the ledger. The
// release job checks them all again before it debits. refusal is a rule's refusal; err means that a
// rule could not be checked.
func (r *Source) Permitted(src *Dataset, records int64, entries []ledger.Entry) (refusal, err error) {
	if refusal, err = r.CheckPeople(src, entries); refusal != nil || err != nil {
		return refusal, err
	}
	if refusal = r.Acceptable(src, records, entries); refusal == nil {
		_, refusal = r.Debits(src, entries)
	}
	return refusal, nil
}

// Remember stores durably which people the data are about, before anything of them is debited.
func (r *Source) Remember(src *Dataset) error {
	if src.People.Empty() {
		return nil
	}
	return r.Store.PutPeopleSample(src.Data.Name, src.People)
}

// Spend appends durably to the ledger what due returns for its entries, unless the budget of these
// people is under another dataset's name.
func (r *Source) Spend(ctx context.Context, src *Dataset, due func([]ledger.Entry) ([]ledger.Entry, error)) error {
	if err := r.Remember(src); err != nil {
		return err
	}
	_, err := r.Store.Debit(ctx, func(entries []ledger.Entry) ([]ledger.Entry, error) {
		if refusal, err := r.CheckPeople(src, entries); refusal != nil || err != nil {
			return nil, errors.Join(refusal, err)
		}
		return due(entries)
	})
	return err
}

// CheckPeople refuses a dataset about the people of another dataset from which something was
// released, unless the steward says that they are different people: their budget would be counted
// afresh. If no data are read, as for a held sketch, it uses the people seen when they were last
// read.
func (r *Source) CheckPeople(src *Dataset, entries []ledger.Entry) (refusal, err error) {
	others, err := r.Store.People()
	if err != nil {
		return nil, err
	}
	own := src.People
	if own.Empty() {
		own = others[src.Data.Name]
	}
	released := map[string]bool{}
	for _, e := range entries {
		released[e.Dataset] = true
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if _, apart := src.Data.ApartFrom[name]; apart || name == src.Data.Name || !released[name] {
			continue
		}
		if why := own.Compare(others[name]); why != people.Unlike {
			return &node.PeopleError{Dataset: src.Data.Name, Other: name, Why: why}, nil
		}
	}
	return nil, nil
}

// Acceptable applies the rule of package audit for releases without noise, and refuses to send
// labels unchanged. Only the steward's site file can overrule it.
func (r *Source) Acceptable(src *Dataset, records int64, entries []ledger.Entry) error {
	if src.Site.AcceptReconstruction {
		return nil
	}
	for _, plan := range src.Plans {
		if plan.Labels != nil && plan.Labels.Response.Zero() {
			return &node.ReconstructionError{Study: r.Study.ID, Reason: "every record's label leaves as it is", Exposure: fmt.Sprintf("the value of %q of each record, without its id", r.Study.Columns[plan.Labels.Column].Name)}
		}
	}
	if r.Study.Privacy.Mechanism != dp.None {
		return nil
	}
	party := src.Plans[0].Party
	together, err := r.Study.RevealsTogether(party, int(records), r.revealed(src.Data.Name, r.Study.Parties[party].ID, records, entries))
	if err != nil {
		return err
	}
	if ok, reason := together.Acceptable(); !ok {
		return &node.ReconstructionError{Study: r.Study.ID, Reason: reason, Exposure: together.String()}
	}
	return nil
}

// revealed returns, for each number held, how many numbers earlier studies released of a dataset
// without noise, if it had as many records as today. A study that is no longer here counts as
// having revealed everything.
func (r *Source) revealed(data string, own protocol.PeerID, records int64, entries []ledger.Entry) (share float64) {
	for _, e := range entries {
		if e.Dataset != data || e.Study == r.Study.ID || e.Mechanism != dp.None {
			continue
		}
		share += r.revealedBy(e, own, records)
	}
	return share
}

func (r *Source) revealedBy(e ledger.Entry, own protocol.PeerID, records int64) float64 {
	source, err := r.Store.Study(e.Study)
	if err != nil {
		return 1
	}
	s, err := stored.Parse(e.Study, source)
	if err != nil {
		return 1
	}
	party, ok := s.PartyIndex(own)
	if !ok || e.Sketch >= len(s.Sketches) {
		return 1
	}
	one, err := s.Reveals(party, e.Sketch, int(records))
	if err != nil {
		return 1
	}
	return one.Share
}

// Chain returns entries with next appended, and does not modify entries.
func Chain(entries []ledger.Entry, next ledger.Entry) ([]ledger.Entry, error) {
	chained, err := ledger.Append(entries, next)
	if err != nil {
		return nil, err
	}
	return append(entries[:len(entries):len(entries)], chained), nil
}

// capsOf converts the site file's caps to the ledger's. A unit without a cap is counted but not
// limited, but a dataset without any cap allows nothing with noise.
func capsOf(d config.Dataset, m dp.Mechanism, unit dp.Unit) (ledger.Caps, error) {
	var caps ledger.Caps
	budget := func(b config.Budget) *dp.Budget {
		if b.Epsilon == 0 {
			return nil
		}
		return &dp.Budget{Epsilon: b.Epsilon, Delta: b.Delta}
	}
	caps.Record, caps.Attribute = budget(d.Caps.Record), budget(d.Caps.Attribute)
	if caps.Record == nil && caps.Attribute == nil && m != dp.None {
		return caps, &node.NoBudgetError{Dataset: d.Name, Unit: unit}
	}
	return caps, nil
}
