package release

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/sum"
)

// A release may take a first look: noisy sums of the party's own values, by which the second pass
// over the data centres and scales them. The look is debited with the sketch, drawn, and stored
// before the second pass, so a party that crashed continues with the same look. It leaves the party
// only as part of the release.

// Looks reports whether the sketch takes a first look at the data.
func (p Plan) Looks() bool {
	return p.Own != nil || p.Moments != nil && p.Sketch().Standardise && !p.Study.Pooled(p.Index)
}

var errUnseen = errors.New("the sketch is standardised by the party's first look, which has not been taken yet")

// entries returns the indices of the features that may be standardised.
func (p Plan) entries() []int {
	if p.Moments != nil {
		return p.Moments.Entries
	}
	out := make([]int, p.Values)
	for i := range out {
		out[i] = i
	}
	return out
}

// Looked returns the number of entries in a look.
func (p Plan) Looked() int { return len(p.entries()) }

// scaled reports whether a feature is scaled by its own spread, as a number with bounds is.
func (p Plan) scaled(f study.Feature) bool { return p.Study.Scaled(f) }

// looked says what a look covers: for moments the scaled entries, for columns all, because analyses
// take means from the look.
func (p Plan) looked() study.Looking {
	if p.Sketch().Side == sketch.Look {
		return p.Study.ValuesLooked()
	}
	return p.Study.Looking(p.Features, p.entries(), p.Moments == nil)
}

// lookLevel returns what a value at the end of its range, and its square, count for in a look.
func (p Plan) lookLevel() int64 { return p.looked().Level }

// lookChange returns the sensitivity of a look: how far one record moves it.
func (p Plan) lookChange() dp.Sensitivity { return p.looked().Change() }

// Look accumulates the sums of a first look.
type Look struct {
	plan Plan
	of   study.Looking
	sum  *sum.Look
}

// NewLook returns a look without records.
func (p Plan) NewLook() *Look {
	of := p.looked()
	return &Look{plan: p, of: of, sum: sum.NewLook(p.Study, of, len(p.Inputs()), p.Limit)}
}

// Add takes a batch of encoded records, as Builder.AddRead does.
func (l *Look) Add(values []int64) error { return l.sum.Add(values) }

// Sketch returns the exact sums of the look so far. Looks at parts of the records add up.
func (l *Look) Sketch() sketch.Sketch {
	sums := append([]int64(nil), l.sum.Sums()...)
	return sketch.Sketch{Side: sketch.Look, Rows: 1, Cols: len(sums), Data: sums}
}

// Restore sets a look without records to the sums s of that many records.
func (l *Look) Restore(s sketch.Sketch, records int64) error {
	if err := l.sum.Restore(s.Data, records); err != nil {
		return fmt.Errorf("restoring a first look: %w", err)
	}
	return nil
}

// Draw draws the noise and returns the centre and spread of each entry for the second pass
// (sum.Moves). It erases the sums.
func (l *Look) Draw(entropy io.Reader) (moves []sketch.Standard, err error) {
	if err := l.plan.lookNoise().Add(l.sum.Sums(), entropy); err != nil {
		return nil, fmt.Errorf("drawing the noise of a first look: %w", err)
	}
	return l.Exact(), nil
}

// Exact returns what the second pass would use if the look had no noise. It is only for the party
// itself and must never be released. It erases the sums.
func (l *Look) Exact() (moves []sketch.Standard) {
	var entries []study.Feature
	for _, i := range l.plan.entries() {
		entries = append(entries, l.plan.Features[i])
	}
	moves = sum.Moves(l.plan.Study, l.of, entries, l.sum.Sums(), l.sum.Records(), math.Sqrt(l.plan.lookNoise().Variance()))
	clear(l.sum.Sums())
	return moves
}

// LeastSpread returns the least spread that a party with that many records scales by, in units of
// the distance between the bounds. For a look in a first round, parties and records are those of
// the whole sum. Its square is four standard errors of the noise on a variance.
func (p Plan) LeastSpread(records int64, parties int) float64 {
	return math.Sqrt(4*math.Sqrt(float64(parties)*p.lookNoise().Variance())/float64(p.lookLevel())/float64(max(records, 1))) / 2
}

func (p Plan) lookNoise() dp.Noise {
	switch {
	case p.Moments != nil:
		return p.Moments.looking
	case p.Own != nil:
		return p.Own.looking
	}
	return p.Noise
}

// still returns the centre and spread that leave an entry at its public centre.
func (p Plan) still(feature int) sketch.Standard { return p.Study.PublicStandard(p.Features[feature]) }

// After returns the plan of the second pass.
func (p Plan) After(moves []sketch.Standard) (Plan, error) {
	if len(moves) != len(p.entries()) {
		return p, fmt.Errorf("a first look of %d entries, want %d", len(moves), len(p.entries()))
	}
	if p.Own != nil {
		return p.centredAt(moves)
	}
	m := *p.Moments
	m.moves = moves
	p.Moments = &m
	return p, nil
}

// Looking returns the plan of the second pass if the values of a standardised columns sketch have
// these means and spreads, in encoded units.
func (p Plan) Looking(means, spreads []float64) (Plan, error) {
	one := float64(p.Study.Bits.One())
	moves := make([]sketch.Standard, p.Values)
	for i, f := range p.Features[:p.Values] {
		moves[i] = sketch.Standard{Centre: int64(math.Round(16 * one * means[i])), Spread: int64(16 * one)}
		if p.scaled(f) {
			moves[i].Spread = int64(math.Min(math.Max(math.Round(48*one*spreads[i]), 1), 48*one))
		}
	}
	return p.After(moves)
}

// EncodeLook encodes a look for storage.
func EncodeLook(moves []sketch.Standard) []byte { return sketch.EncodeStandards(moves) }

// DecodeLook decodes a stored look and checks its range.
func DecodeLook(data []byte) ([]sketch.Standard, error) {
	out, err := sketch.DecodeStandards(data)
	if err != nil {
		return nil, fmt.Errorf("reading a stored first look: %w", err)
	}
	for i, m := range out {
		if m.Spread < 1 || m.Spread > 16*fixedpoint.Far || m.Centre > 16*fixedpoint.Far || m.Centre < -16*fixedpoint.Far {
			return nil, fmt.Errorf("reading a stored first look: entry %d is moved by %d and scaled by %d sixteenths, which is out of range", i+1, m.Centre, m.Spread)
		}
	}
	return out, nil
}
