package study

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// A look is a sketch of the first round of masked sums. In a plain sum, each party looks at its own
// records and publishes what follows. The sum of all looks is about all records, and reveals no
// single party's.

// ofLook returns the row of the first round, which prepares the moments of the second.
func ofLook() additive {
	return additive{
		side: sketch.Look, label: true, takes: true,
		limit: func(s *Study, index int, bound int64) int64 {
			if s.LooksAtValues() {
				return bound / s.ValuesLooked().Level
			}
			_, at := s.LookEdges()
			return min(bound/dp.CountWeight, s.momentsLimit(at, bound)) // the code of moments measures records here, too
		},
		method: func(Sketch) string { return "first look" },
		says:   (*Study).describeLook,
	}
}

// Look returns the index of the sketch of side look; ok is false if there is none.
func (s *Study) Look() (index int, ok bool) {
	index = slices.IndexFunc(s.Sketches, func(sk Sketch) bool { return sk.Side == sketch.Look })
	return index, index >= 0
}

// Pooled reports whether a sketch is one of moments whose clip, and whose shifts and scales, follow
// from the sum of the parties' looks.
func (s *Study) Pooled(index int) bool {
	sk := s.Sketches[index]
	_, looks := s.Look()
	return looks && sk.Side == sketch.Moments && (sk.OwnClip || sk.Standardise)
}

// PooledMoments lists the sketches whose clips follow from a look, in the order of a basis.
func (s *Study) PooledMoments() (out []int) {
	for i := range s.Sketches {
		if s.Pooled(i) {
			out = append(out, i)
		}
	}
	return out
}

// LooksAtValues reports whether a look measures the centres and spreads of values; else it counts
// lengths. If records are to be shifted and scaled by the result, their lengths are not known yet.
func (s *Study) LooksAtValues() bool {
	return slices.ContainsFunc(s.PooledMoments(), func(i int) bool { return s.Sketches[i].Standardise })
}

// LookEdges returns the lengths by which a look counts records, and the index of the sketch whose
// entries they measure. It is the longest list of the sketches that use the look; all lists begin
// alike.
func (s *Study) LookEdges() (edges []int64, index int) {
	for _, i := range s.PooledMoments() {
		if own := s.ClipEdges(i); len(own) > len(edges) {
			edges, index = own, i
		}
	}
	return edges, index
}

// ValuesLooked describes a look at values.
func (s *Study) ValuesLooked() Looking {
	index := s.PooledMoments()[0]
	return s.Looking(s.Features(0, index), s.MomentEntries(index), false)
}

// Looking describes noisy sums of values and of their squares, by which entries are shifted and
// scaled.
type Looking struct {
	Entries []Looked
	Level   int64 // sum of a value at its end, and of its square: a power of two from one up
	squared int64
}

// Looked is one entry of a look.
type Looked struct {
	Entry, Value int   // its index among the standardised entries, and among a record's inputs
	Middle, Half int64 // a value is at most half from middle
	Square       bool  // its square is summed as well
	Absent       int64 // substitute for an absent value
}

// looking bounds the squared sensitivity of a look, unless records are very wide.
const looking = 1 << 40

// Looking returns a look at those of these features, given by their indices, that are scaled; with
// all, at every one. It bounds the squared length of one record in the look, or of its change, in
// units in which a value at its end is 1. A value with its square has s² + s⁴ ≤ 2. If another value
// replaces it, (s−s')²(1+(s+s')²) ≤ 4, as for a bit. A category is 1 in one entry.
func (s *Study) Looking(features []Feature, places []int, all bool) Looking {
	out := Looking{Level: s.Bits.One()}
	replaced, last := s.Privacy.Replaced, -1
	for at, i := range places {
		f := features[i]
		c := s.Columns[f.Column]
		if !all && !s.Scaled(f) {
			continue
		}
		l := Looked{Entry: at, Value: i, Half: c.Scale.Range(s.Bits) / 2, Square: c.Kind == Numeric, Absent: s.PublicStandard(f).Centre / 16}
		l.Middle = s.Bits.One() - l.Half
		switch {
		case f.Kind == OneHot:
			l.Middle, l.Half = 0, s.Bits.One()
			if f.Column != last && replaced {
				out.squared += 2
			} else if f.Column != last {
				out.squared++
			}
		case replaced:
			out.squared += 4
		case l.Square:
			out.squared += 2
		default:
			out.squared++
		}
		last = f.Column
		out.Entries = append(out.Entries, l)
	}
	for out.squared > 0 && 4*out.Level*out.Level*out.squared <= looking {
		out.Level *= 2
	}
	return out
}

// Change returns the sensitivity of the look to one record.
func (l Looking) Change() dp.Sensitivity {
	return dp.SensitivityWithin(l.squared*l.Level*l.Level, 2*len(l.Entries))
}

// Scaled reports whether a sketch that standardises scales a feature by its spread: a number with
// bounds.
func (s *Study) Scaled(f Feature) bool {
	c := s.Columns[f.Column]
	_, _, bounded := c.Scale.Bounds()
	return bounded && c.Kind == Numeric
}

// PublicStandard returns the public centre of an entry, without scaling.
func (s *Study) PublicStandard(f Feature) sketch.Standard {
	one := s.Bits.One()
	return sketch.Standard{Centre: 16 * s.CentreOf(f, one), Spread: 16 * one}
}

// LengthChange returns the sensitivity of counts of lengths: a record is in one count, and its
// replacement in another.
func (s *Study) LengthChange() (dp.Sensitivity, error) {
	return dp.RecordCounts(1, dp.CountWeight, s.Neighbours())
}

// describeLook describes a look.
func (s *Study) describeLook(i int, noisy string) string {
	if s.LooksAtValues() {
		n := 2 * int64(len(s.ValuesLooked().Entries))
		return fmt.Sprintf("of the first round: %d integers, %s, however many records there are: of each numeric column with bounds the %s sum of its values and that of their squares. By the sum over all parties the second round moves and scales these columns", n, s.Sizes(n, n), noisy)
	}
	edges, _ := s.LookEdges()
	n := int64(len(edges)) + 1
	return fmt.Sprintf("of the first round: %d integers, %s, however many records there are: %s counts of your records by their lengths. By the sum over all parties the second round takes its clip", n, s.Sizes(n, n), noisy)
}

// describePooled says what follows from a look for moments.
func (s *Study) describePooled(i int) string {
	sk := s.Sketches[i]
	out := ". They are of the second round"
	if sk.Standardise {
		out += ", before which your program moves and scales numeric columns with bounds as the first round says of all parties' records"
	}
	if sk.OwnClip && s.LooksAtValues() {
		out += "; the clip suits most data of as many records"
	} else if sk.OwnClip {
		out += ", whose clip follows from the first: a length that few of all parties' records exceed"
	}
	return out + ". What the aggregator says of that costs accuracy if it is wrong, and no privacy"
}
