package node

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// permitted checks the rules that do not depend on the seed, before anything
// leaves: whom the data are about, the rule for sketches without noise, and the dataset's
// caps after what the ledger holds. The release job holds all again before it debits. refusal is
// what they say, and err why they cannot be held.
func (r *home) permitted(src *source, records int64, entries []ledger.Entry) (refusal, err error) {
	if refusal, err = r.recognised(src, entries); refusal != nil || err != nil {
		return refusal, err
	}
	if refusal = r.acceptable(src, records, entries); refusal == nil {
		_, refusal = r.debits(src, entries)
	}
	return refusal, nil
}

// remember keeps whom the data are about that were read, durably, before anything of them is debited.
func (r *home) remember(src *source) error {
	if src.people.Empty() {
		return nil
	}
	return r.Store.KeepPeople(src.data.Name, src.people)
}

// recognised refuses a dataset that is about people of another one of which something was released, unless
// the steward says that they are others. Their budget would be counted anew. Where no data are read, as of
// a held sketch, the dataset is about those that it was about when they were.
func (r *home) recognised(src *source, entries []ledger.Entry) (refusal, err error) {
	others, err := r.Store.People()
	if err != nil {
		return nil, err
	}
	own := src.people
	if own.Empty() {
		own = others[src.data.Name]
	}
	released := map[string]bool{}
	for _, e := range entries {
		released[e.Dataset] = true
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if _, apart := src.data.ApartFrom[name]; apart || name == src.data.Name || !released[name] {
			continue
		}
		if why := own.Like(others[name]); why != people.Unlike {
			return &PeopleError{src.data.Name, name, why}, nil
		}
	}
	return nil, nil
}

// acceptable holds the rule of package audit for releases without noise, and that labels
// do not leave as they are, which only the steward's site file overrules.
func (r *home) acceptable(src *source, records int64, entries []ledger.Entry) error {
	if src.site.AcceptReconstruction {
		return nil
	}
	for _, plan := range src.plans {
		if plan.Labels != nil && plan.Labels.Response.Zero() {
			return &ReconstructionError{Study: r.study.ID, Reason: "every record's label leaves as it is", Exposure: fmt.Sprintf("the value of %q of each record, without its id", r.study.Columns[plan.Labels.Column].Name)}
		}
	}
	if r.study.Privacy.Mechanism != dp.None {
		return nil
	}
	party := src.plans[0].Party
	together, err := r.study.RevealsTogether(party, int(records), r.revealed(src.data.Name, r.study.Parties[party].ID, records, entries))
	if err != nil {
		return err
	}
	if ok, reason := together.Acceptable(); !ok {
		return &ReconstructionError{Study: r.study.ID, Reason: reason, Exposure: together.String()}
	}
	return nil
}

// revealed is how many numbers for each number held earlier studies released of a dataset without
// noise, if it had as many records as today. Of a study that is not here any more it is
// taken that nothing stayed hidden.
func (r *home) revealed(data string, own protocol.PeerID, records int64, entries []ledger.Entry) (share float64) {
	for _, e := range entries {
		if e.Dataset != data || e.Study == r.study.ID || e.Mechanism != dp.None {
			continue
		}
		share += r.revealedBy(e, own, records)
	}
	return share
}

func (r *home) revealedBy(e ledger.Entry, own protocol.PeerID, records int64) float64 {
	source, err := r.Store.Study(e.Study)
	if err != nil {
		return 1
	}
	s, err := ParseStored(e.Study, source)
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

// debits lists the ledger entries that the study's release still needs, each
// checked against the caps after those before it. A debit that an interrupted
// run made is found and not made again.
func (r *home) debits(src *source, entries []ledger.Entry) ([]ledger.Entry, error) {
	caps, err := capsOf(src.data, r.study.Privacy.Mechanism, r.study.Privacy.Unit)
	if err != nil {
		return nil, err
	}
	// A release without noise needs the steward's yes. By now it was given: the
	// approval of a study that says none, under a rule that only accept_reconstruction
	// overrules (acceptable).
	consent := ledger.Consent{AcceptUnbounded: src.site.AcceptReconstruction || r.study.Privacy.Mechanism == dp.None}
	due := r.due(src, entries)
	after := entries
	for _, next := range due {
		if err := ledger.Check(after, next, caps, consent); err != nil {
			return nil, r.withFit(err, entries, due, caps)
		}
		if after, err = chain(after, next); err != nil {
			return nil, err
		}
	}
	return due, nil
}

// due lists the ledger entries that the study's release still needs, whether or not
// the caps allow them.
func (r *home) due(src *source, entries []ledger.Entry) (out []ledger.Entry) {
	for i, plan := range src.plans {
		next := ledger.Entry{
			Dataset: src.data.Name, Study: r.study.ID, Aggregator: r.study.Aggregator.ID, Sketch: i, Round: src.round, Unit: r.study.Privacy.Unit,
			Attributes: max(plan.Attributes(), 1), At: r.Now(),
		}.Promised(plan.Guarantee())
		if next.Unit == "" {
			next.Unit = dp.Record // mechanism none has no unit of its own; it bounds neither
		}
		if _, paid := ledger.Paid(entries, next); paid {
			continue
		}
		out = append(out, next)
	}
	return out
}

// withFit adds to a refusal for a cap what would fit instead.
func (r *home) withFit(err error, entries, due []ledger.Entry, caps ledger.Caps) error {
	var exceeded *ledger.Exceeded
	if !errors.As(err, &exceeded) || exceeded.Unbounded {
		return err
	}
	whole, invalid := r.study.Privacy.Guarantee()
	if invalid != nil {
		return invalid
	}
	fit := ledger.Largest(entries, due, whole, caps)
	exceeded.Fits = &fit
	return err
}

// chain returns entries with the next one, and leaves entries alone.
func chain(entries []ledger.Entry, next ledger.Entry) ([]ledger.Entry, error) {
	chained, err := ledger.Append(entries, next)
	if err != nil {
		return nil, err
	}
	return append(entries[:len(entries):len(entries)], chained), nil
}

// capsOf turns the site file's caps into the ledger's: a unit without a cap is
// counted and not limited, but a dataset without any cap allows nothing.
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
		return caps, &NoBudgetError{d.Name, unit}
	}
	return caps, nil
}
