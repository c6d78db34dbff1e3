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

// A release may take a first look: noisy sums of the party's own values, by which the second
// pass over the data moves and scales them. It is debited with the sketch, drawn, and stored
// before the second pass, so that a party that crashed goes on with the same look; and it leaves
// as part of the release alone.

// Looks reports whether the sketch takes a first look at the data.
func (p Plan) Looks() bool {
	return p.Own != nil || p.Moments != nil && p.Sketch().Standardise && !p.Study.Pooled(p.Index)
}

var errUnseen = errors.New("a party standardises by its own noisy moments, which are not known yet")

// entries are the features of the values that may be standardised.
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

// Looked is how many entries a look has.
func (p Plan) Looked() int { return len(p.entries()) }

// scaled reports whether a feature is scaled by its own spread: a number with bounds.
func (p Plan) scaled(f study.Feature) bool { return p.Study.Scaled(f) }

// looked is what a look is about: in moments what is scaled, in columns all, as analyses take means from the look.
func (p Plan) looked() study.Looking {
	if p.Sketch().Side == sketch.Look {
		return p.Study.ValuesLooked()
	}
	return p.Study.Looking(p.Features, p.entries(), p.Moments == nil)
}

// lookLevel is what a value at its end is in a look, and its square.
func (p Plan) lookLevel() int64 { return p.looked().Level }

// lookChange is how far one record moves a look.
func (p Plan) lookChange() dp.Sensitivity { return p.looked().Change() }

// Look adds up what a first look is about.
type Look struct {
	plan Plan
	of   study.Looking
	sum  *sum.Look
}

// NewLook returns a look at no record.
func (p Plan) NewLook() *Look {
	of := p.looked()
	return &Look{plan: p, of: of, sum: sum.NewLook(p.Study, of, len(p.Inputs()), p.Limit)}
}

// Add takes a batch of encoded records, as Builder.AddRead does.
func (l *Look) Add(values []int64) error { return l.sum.Add(values) }

// Sketch is what the look has summed, exactly. Looks at parts of the records add up.
func (l *Look) Sketch() sketch.Sketch {
	sums := append([]int64(nil), l.sum.Sums()...)
	return sketch.Sketch{Side: sketch.Look, Rows: 1, Cols: len(sums), Data: sums}
}

// Restore makes a look at no record one at so many, of which others summed this.
func (l *Look) Restore(s sketch.Sketch, records int64) error {
	if err := l.sum.Restore(s.Data, records); err != nil {
		return fmt.Errorf("restoring a first look: %w", err)
	}
	return nil
}

// Draw draws the noise and returns what the second pass goes by: by entry its centre and
// spread (sum.Moves). The exact sums are gone afterwards.
func (l *Look) Draw(entropy io.Reader) (moves []sketch.Standard, err error) {
	if err := l.plan.lookNoise().Add(l.sum.Sums(), entropy); err != nil {
		return nil, fmt.Errorf("drawing the noise of a first look: %w", err)
	}
	return l.Exact(), nil
}

// Exact is what the second pass would go by if the look had no noise: for the party's own eyes,
// and never for a release. The sums are gone afterwards.
func (l *Look) Exact() (moves []sketch.Standard) {
	var entries []study.Feature
	for _, i := range l.plan.entries() {
		entries = append(entries, l.plan.Features[i])
	}
	moves = sum.Moves(l.plan.Study, l.of, entries, l.sum.Sums(), l.sum.Records(), math.Sqrt(l.plan.lookNoise().Variance()))
	clear(l.sum.Sums())
	return moves
}

// LeastSpread is the least spread, in units of the distance of the bounds, that a party with so
// many records scales by, or of a look in a first round so many parties together: its square is four standard errors
// of the noise on a variance.
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

// still is how an entry stays where the public centre has it.
func (p Plan) still(feature int) sketch.Standard { return p.Study.Still(p.Features[feature]) }

// After is the plan of the second pass.
func (p Plan) After(moves []sketch.Standard) (Plan, error) {
	if len(moves) != len(p.entries()) {
		return p, fmt.Errorf("a first look at %d entries for %d", len(moves), len(p.entries()))
	}
	if p.Own != nil {
		return p.around(moves)
	}
	m := *p.Moments
	m.moves = moves
	p.Moments = &m
	return p, nil
}

// Looking is the plan of the second pass where the values of a standardised sketch of columns have these
// means and spreads, in encoded units.
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

// EncodeLook writes a look as it is stored.
func EncodeLook(moves []sketch.Standard) []byte { return sketch.EncodeStandards(moves) }

// DecodeLook reads a stored look.
func DecodeLook(data []byte) ([]sketch.Standard, error) {
	out, err := sketch.DecodeStandards(data)
	if err != nil {
		return nil, fmt.Errorf("reading a stored first look: %w", err)
	}
	for i, m := range out {
		if m.Spread < 1 || m.Spread > 16*fixedpoint.Far || m.Centre > 16*fixedpoint.Far || m.Centre < -16*fixedpoint.Far {
			return nil, fmt.Errorf("reading a stored first look: entry %d is moved by %d and scaled by %d sixteenths", i+1, m.Centre, m.Spread)
		}
	}
	return out, nil
}
