package source

import (
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

// Permitted checks the rules that do not depend on the seed, before anything
// leaves: whom the data are about, the rule for sketches without noise, and the dataset's
// caps after what the ledger holds. The release job holds all again before it debits. refusal is
// what they say, and err why they cannot be held.
func (r *Source) Permitted(src *Opened, records int64, entries []ledger.Entry) (refusal, err error) {
	if refusal, err = r.Recognised(src, entries); refusal != nil || err != nil {
		return refusal, err
	}
	if refusal = r.Acceptable(src, records, entries); refusal == nil {
		_, refusal = r.Debits(src, entries)
	}
	return refusal, nil
}

// Remember keeps whom the data are about that were read, durably, before anything of them is debited.
func (r *Source) Remember(src *Opened) error {
	if src.People.Empty() {
		return nil
	}
	return r.Store.KeepPeople(src.Data.Name, src.People)
}

// Recognised refuses a dataset that is about people of another one of which something was released, unless
// the steward says that they are others. Their budget would be counted anew. Where no data are read, as of
// a held sketch, the dataset is about those that it was about when they were.
func (r *Source) Recognised(src *Opened, entries []ledger.Entry) (refusal, err error) {
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
		if why := own.Like(others[name]); why != people.Unlike {
			return &node.PeopleError{Dataset: src.Data.Name, Other: name, Why: why}, nil
		}
	}
	return nil, nil
}

// Acceptable holds the rule of package audit for releases without noise, and that labels
// do not leave as they are, which only the steward's site file overrules.
func (r *Source) Acceptable(src *Opened, records int64, entries []ledger.Entry) error {
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

// revealed is how many numbers for each number held earlier studies released of a dataset without
// noise, if it had as many records as today. Of a study that is not here any more it is
// taken that nothing stayed hidden.
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

// Debits lists the ledger entries that the study's release still needs, each
// checked against the caps after those before it. A debit that an interrupted
// run made is found and not made again.
func (r *Source) Debits(src *Opened, entries []ledger.Entry) ([]ledger.Entry, error) {
	caps, err := CapsOf(src.Data, r.Study.Privacy.Mechanism, r.Study.Privacy.Unit)
	if err != nil {
		return nil, err
	}
	// A release without noise needs the steward's yes. By now it was given: the
	// approval of a study that says none, under a rule that only accept_reconstruction
	// overrules (acceptable).
	consent := ledger.Consent{AcceptUnbounded: src.Site.AcceptReconstruction || r.Study.Privacy.Mechanism == dp.None}
	due := r.Due(src, entries)
	after := entries
	for _, next := range due {
		if err := ledger.Check(after, next, caps, consent); err != nil {
			return nil, r.withFit(err, entries, due, caps)
		}
		if after, err = Chain(after, next); err != nil {
			return nil, err
		}
	}
	return due, nil
}

// Due lists the ledger entries that the study's release still needs, whether or not
// the caps allow them.
func (r *Source) Due(src *Opened, entries []ledger.Entry) (out []ledger.Entry) {
	for i, plan := range src.Plans {
		next := ledger.Entry{
			Dataset: src.Data.Name, Study: r.Study.ID, Aggregator: r.Study.Aggregator.ID, Sketch: i, Round: src.round, Unit: r.Study.Privacy.Unit,
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
func (r *Source) withFit(err error, entries, due []ledger.Entry, caps ledger.Caps) error {
	var exceeded *ledger.Exceeded
	if !errors.As(err, &exceeded) || exceeded.Unbounded {
		return err
	}
	whole, invalid := r.Study.Privacy.Guarantee()
	if invalid != nil {
		return invalid
	}
	fit := ledger.Largest(entries, due, whole, caps)
	exceeded.Fits = &fit
	return err
}

// Chain returns entries with the next one, and leaves entries alone.
func Chain(entries []ledger.Entry, next ledger.Entry) ([]ledger.Entry, error) {
	chained, err := ledger.Append(entries, next)
	if err != nil {
		return nil, err
	}
	return append(entries[:len(entries):len(entries)], chained), nil
}

// CapsOf turns the site file's caps into the ledger's: a unit without a cap is
// counted and not limited, but a dataset without any cap allows nothing.
func CapsOf(d config.Dataset, m dp.Mechanism, unit dp.Unit) (ledger.Caps, error) {
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
