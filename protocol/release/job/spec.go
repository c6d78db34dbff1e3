package job

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// Spec says what to release. All fields are required unless a default is given.
type Spec struct {
	Study   *study.Study
	What    Kind           // which release of the study it is
	Plans   []release.Plan // one per sketch, as release.For or release.ForQuery plans them; at least one
	Keys    seed.Keys      // of the study's seed
	Dataset string         // whose budget pays
	Caps    ledger.Caps    // on that budget. Default: counted without limit
	Consent ledger.Consent // to exceeding the caps. Default: none

	// Kept returns what else of the budget is reserved, after these entries: see ledger.Caps.
	// Default: nothing.
	Kept func(entries []ledger.Entry) ([]ledger.Entry, error)

	// Accept may refuse a release of that many records although the caps allow it. It is called
	// before a debit, once the records are counted, and again when they are sketched. Default: all
	// are accepted.
	Accept func(records int64) error

	Now     func() protocol.Instant
	Signer  protocol.Signer
	Entropy io.Reader // crypto/rand outside tests
	Workers int       // goroutines that project and draw. Default: 1

	look []byte // the look that the plans of the second pass follow; nil: there was none
}

func (s Spec) workers() int { return max(s.Workers, 1) }

func (s Spec) accept(records int64) error {
	if s.Accept == nil {
		return nil
	}
	return s.Accept(records)
}

// prepared returns the spec with the plans of this release.
func (s Spec) prepared() (Spec, error) {
	if len(s.Plans) == 0 {
		return s, errors.New("releasing without a sketch")
	}
	var err error
	s.Plans, err = s.What.plans(s.Plans)
	return s, err
}

// Due lists the ledger entries that the release still needs, whether or not the caps allow them. It
// leaves out debits that an interrupted run already made.
func (s Spec) Due(entries []ledger.Entry) (out []ledger.Entry) {
	of := s.Study
	for _, plan := range s.Plans {
		next := s.What.entry(ledger.Entry{
			Dataset: s.Dataset, Study: of.ID, Aggregator: of.Aggregator.ID, Sketch: plan.Index, Unit: of.Privacy.Unit,
			Attributes: max(plan.Attributes(), 1), At: s.Now(),
		}).Promised(plan.Guarantee())
		if next.Unit == "" {
			next.Unit = dp.Record // mechanism none has no unit; it bounds neither
		}
		if _, paid := ledger.Debited(entries, next); paid {
			continue
		}
		out = append(out, next)
	}
	return out
}

// Debits returns what is due. It checks each entry against the caps after those before it. If a cap
// refuses, the error says what would fit instead of the whole study.
func (s Spec) Debits(entries []ledger.Entry) ([]ledger.Entry, error) {
	due, after := s.Due(entries), entries
	if s.Kept != nil {
		var err error
		if s.Caps.Kept, err = s.Kept(entries); err != nil {
			return nil, err
		}
	}
	for _, next := range due {
		if err := ledger.Check(after, next, s.Caps, s.Consent); err != nil {
			return nil, s.withFit(err, entries, due)
		}
		chained, err := ledger.Append(after, next)
		if err != nil {
			return nil, err
		}
		after = append(after[:len(after):len(after)], chained)
	}
	return due, nil
}

// withFit adds to the refusal by a cap what would fit instead.
func (s Spec) withFit(err error, entries, due []ledger.Entry) error {
	var exceeded *ledger.Exceeded
	if _, whole := s.What.(Study); !whole || !errors.As(err, &exceeded) || exceeded.Unbounded {
		return err
	}
	promise, invalid := s.Study.Privacy.Guarantee()
	if invalid != nil {
		return invalid
	}
	fit := ledger.Largest(entries, due, promise, s.Caps)
	exceeded.Fits = &fit
	return err
}

// salted returns what is due, with fresh salts.
func (s Spec) salted(entries []ledger.Entry) ([]ledger.Entry, error) {
	due, err := s.Debits(entries)
	if err != nil {
		return nil, err
	}
	for i := range due {
		if _, err := io.ReadFull(s.Entropy, due[i].Salt[:]); err != nil {
			return nil, fmt.Errorf("drawing salt: %w", err)
		}
	}
	return due, nil
}

// randomised reports whether noise is drawn into values as they are read.
func (s Spec) randomised() bool {
	for _, plan := range s.Plans {
		if !plan.Flips.Zero() {
			return true
		}
	}
	return false
}

// looks reports whether the release takes a first look at the data.
func (s Spec) looks() bool {
	for _, plan := range s.Plans {
		if plan.Looks() {
			return true
		}
	}
	return false
}

// withLook returns the spec of the second pass after a look, given as stored.
func (s Spec) withLook(look []byte) (Spec, error) {
	var err error
	s.Plans, err = After(s.Plans, look)
	s.look = look
	return s, err
}

// After returns the plans of the second pass after a stored first look.
func After(before []release.Plan, look []byte) ([]release.Plan, error) {
	moves, err := release.DecodeLook(look)
	if err != nil {
		return nil, err
	}
	plans := append([]release.Plan(nil), before...)
	for i, plan := range plans {
		if !plan.Looks() {
			continue
		}
		n := min(plan.Looked(), len(moves))
		if plans[i], err = plan.After(moves[:n]); err != nil {
			return nil, err
		}
		moves = moves[n:]
	}
	if len(moves) > 0 {
		return nil, fmt.Errorf("the first look has %d entries too many", len(moves))
	}
	return plans, nil
}

// builders returns a builder without records for each sketch.
func (s Spec) builders() (out []*release.Builder, err error) {
	for _, plan := range s.Plans {
		b, err := plan.NewBuilder(s.Keys, s.workers())
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// newLooks returns a look without records for each sketch that takes one; nil for the others.
func (s Spec) newLooks() []*release.Look {
	out := make([]*release.Look, len(s.Plans))
	for i, plan := range s.Plans {
		if plan.Looks() {
			out[i] = plan.NewLook()
		}
	}
	return out
}
