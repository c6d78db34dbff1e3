package release

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// A release may take a first look: noisy sums of the party's own values, by which the second
// pass over the data moves and scales them. It is debited with the sketch, drawn, and stored
// before the second pass, so that a party that crashed goes on with the same look; and it leaves
// as part of the release alone.

// Looks reports whether the sketch takes a first look at the data.
func (p Plan) Looks() bool { return p.Own != nil || p.Moments != nil && p.Sketch().Standardise }

// looked is an entry that a look is about.
type looked struct {
	entry, value int   // its places among what is standardised, and among a record's inputs
	middle, half int64 // a value is at most half from middle
	square       bool  // its square is summed, too
	absent       int64 // what stands for an absent value
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
func (p Plan) scaled(f study.Feature) bool {
	c := p.Study.Columns[f.Column]
	_, _, bounded := c.Scale.Bounds()
	return bounded && c.Kind == study.Numeric
}

// looked lists the entries that a look is about: in moments what is scaled, in columns all, as
// analyses take means from the look. The squared length that one record can have in it, or
// move it by, is in units in which a value at its end is 1: with its square, s² + s⁴ ≤ 2, and in
// the place of another value (s−s')²(1+(s+s')²) ≤ 4, as a bit; a category is 1 in one entry.
func (p Plan) looked() (out []looked, squared int64) {
	bits := p.Study.Bits
	replaced, last := p.Study.Privacy.Replaced, -1
	for at, i := range p.entries() {
		f := p.Features[i]
		c := p.Study.Columns[f.Column]
		if p.Moments != nil && !p.scaled(f) {
			continue
		}
		l := looked{entry: at, value: i, half: c.Scale.Range(bits) / 2, square: c.Kind == study.Numeric, absent: p.still(i).Centre / 16}
		l.middle = bits.One() - l.half
		switch {
		case f.Kind == study.OneHot:
			l.middle, l.half = 0, bits.One()
			if f.Column != last && replaced {
				squared += 2
			} else if f.Column != last {
				squared++
			}
		case replaced:
			squared += 4
		case l.square:
			squared += 2
		default:
			squared++
		}
		last = f.Column
		out = append(out, l)
	}
	return out, squared
}

// looking is the most that a look's sensitivity is, squared, unless records are very wide.
const looking = 1 << 40

// lookLevel is what a value at its end is in a look, and its square: a power of two from one up.
func (p Plan) lookLevel() int64 {
	_, squared := p.looked()
	level := p.Study.Bits.One()
	for 4*level*level*squared <= looking {
		level *= 2
	}
	return level
}

// lookChange is how far one record moves a look.
func (p Plan) lookChange() dp.Sensitivity {
	of, squared := p.looked()
	level := p.lookLevel()
	return within(squared*level*level, 2*len(of))
}

// within is the sensitivity of so many entries of which one record moves a squared length.
func within(squared int64, entries int) dp.Sensitivity {
	return dp.Sensitivity{L1: int64(math.Ceil(math.Sqrt(float64(entries) * float64(squared)))), L2Squared: squared}
}

// Look adds up what a first look is about.
type Look struct {
	plan    Plan
	entries []looked
	level   int64
	sums    []int64
	records int64
}

// NewLook returns a look at no record.
func (p Plan) NewLook() *Look {
	of, _ := p.looked()
	return &Look{plan: p, entries: of, level: p.lookLevel(), sums: make([]int64, 2*len(of))}
}

// Add takes a batch of encoded records, as Builder.AddRead does.
func (l *Look) Add(values []int64) error {
	n, fine := len(l.plan.Inputs()), l.plan.Study.Fine()
	if len(values)%n != 0 {
		return fmt.Errorf("looking at records of %d features: %d entries", n, len(values))
	}
	for ; len(values) > 0; values = values[n:] {
		if l.records++; l.records > l.plan.Limit {
			return fmt.Errorf("looking at records: the limit is %d", l.plan.Limit)
		}
		for i, e := range l.entries {
			v := values[e.value]
			if v == sketch.Absent {
				v = e.absent
			} else {
				v = sketch.Round(v, fine)
			}
			u := v - e.middle
			if u < -e.half || u > e.half {
				return errors.New("looking at records: a value is outside its bounds")
			}
			l.sums[2*i] += l.level / e.half * u
			if e.square {
				l.sums[2*i+1] += (l.level*u*u + e.half*e.half/2) / (e.half * e.half)
			}
		}
	}
	return nil
}

// Draw draws the noise and returns what the second pass goes by: by entry its centre and
// spread. The exact sums are gone afterwards. A spread is at least what the noise of a variance
// leaves certain: s² = max(s², 4 SE); what is not scaled has the public one.
func (l *Look) Draw(entropy io.Reader) (moves []sketch.Standard, err error) {
	if err := l.plan.lookNoise().AddParallel(l.sums, entropy, 1); err != nil {
		return nil, fmt.Errorf("drawing the noise of a first look: %w", err)
	}
	return l.Exact(), nil
}

// Exact is what the second pass would go by if the look had no noise: for the party's own eyes,
// and never for a release. The sums are gone afterwards.
func (l *Look) Exact() (moves []sketch.Standard) {
	noise := l.plan.lookNoise()
	for _, i := range l.plan.entries() {
		moves = append(moves, l.plan.still(i))
	}
	n := float64(max(l.records, 1)) * float64(l.level)
	deviation := math.Sqrt(noise.Variance()) / n
	for i, e := range l.entries {
		half := float64(e.half)
		least := -1.0
		if e.middle == 0 && !e.square { // of a category
			least = 0
		}
		mean := math.Min(math.Max(float64(l.sums[2*i])/n, least), 1)
		moves[e.entry].Centre = int64(math.Round(16 * (float64(e.middle) + half*mean)))
		if !l.plan.scaled(l.plan.Features[e.value]) {
			continue
		}
		variance := float64(l.sums[2*i+1])/n - mean*mean
		variance = math.Min(math.Max(variance, 4*deviation), 1)
		moves[e.entry].Spread = max(int64(math.Round(16*3*half*math.Sqrt(variance))), 1)
	}
	clear(l.sums)
	return moves
}

// LeastSpread is the least spread, in units of the distance of the bounds, that a party with so
// many records scales by: its square is four standard errors of the noise on a variance.
func (p Plan) LeastSpread(records int64) float64 {
	return math.Sqrt(4*math.Sqrt(p.lookNoise().Variance())/float64(p.lookLevel())/float64(max(records, 1))) / 2
}

func (p Plan) lookNoise() dp.Noise {
	if p.Moments != nil {
		return p.Moments.looking
	}
	return p.Own.looking
}

// still is how an entry stays where the public centre has it.
func (p Plan) still(feature int) sketch.Standard {
	one := p.Study.Bits.One()
	return sketch.Standard{Centre: 16 * p.Study.CentreOf(p.Features[feature], one), Spread: 16 * one}
}

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
func EncodeLook(moves []sketch.Standard) []byte {
	var out []byte
	for _, m := range moves {
		out = binary.BigEndian.AppendUint64(out, uint64(m.Centre))
		out = binary.BigEndian.AppendUint64(out, uint64(m.Spread))
	}
	return out
}

// DecodeLook reads a stored look.
func DecodeLook(data []byte) ([]sketch.Standard, error) {
	if len(data)%16 != 0 {
		return nil, fmt.Errorf("reading a stored first look: %d bytes are no whole number of entries, of 16 bytes each", len(data))
	}
	out := make([]sketch.Standard, 0, len(data)/16)
	for ; len(data) > 0; data = data[16:] {
		m := sketch.Standard{Centre: int64(binary.BigEndian.Uint64(data)), Spread: int64(binary.BigEndian.Uint64(data[8:]))}
		if m.Spread < 1 || m.Spread > 16*fixedpoint.Far || m.Centre > 16*fixedpoint.Far || m.Centre < -16*fixedpoint.Far {
			return nil, fmt.Errorf("reading a stored first look: entry %d is moved by %d and scaled by %d sixteenths", len(out)+1, m.Centre, m.Spread)
		}
		out = append(out, m)
	}
	return out, nil
}
