package study

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// A look is a sketch of the first round of masked sums. Parties of a plain sum look at their own records each and
// publish what follows; a sum of all looks says it of all records, and of no party.

// ofLook is the row of what the first round tells of records that the moments of the second are made of.
func ofLook() additive {
	return additive{
		side: sketch.Look, label: true, takes: true,
		limit: func(s *Study, index int, bound int64) int64 {
			if s.LooksAtValues() {
				return bound / s.ValuesLooked().Level
			}
			_, at := s.LookEdges()
			return min(bound/dp.CountWeight, s.momentsLimit(at, bound)) // the same code measures records
		},
		method: func(Sketch) string { return "first look" },
		says:   (*Study).describeLook,
	}
}

// Look is the index of the sketch of side look; ok is false where there is none.
func (s *Study) Look() (index int, ok bool) {
	index = slices.IndexFunc(s.Sketches, func(sk Sketch) bool { return sk.Side == sketch.Look })
	return index, index >= 0
}

// Pooled reports whether a sketch is of moments whose clip, and the moves of whose entries, follow from the parties'
// sum of a look.
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

// LooksAtValues reports whether a look is at where values lie and how far they spread: lengths of records that are
// moved and scaled by that are not known yet. Else it is at lengths.
func (s *Study) LooksAtValues() bool {
	return slices.ContainsFunc(s.PooledMoments(), func(i int) bool { return s.Sketches[i].Standardise })
}

// LookEdges are the lengths by which a look counts records, and the sketch whose entries these are of: the longest
// list of those of the sketches that go by it. They all begin alike.
func (s *Study) LookEdges() (edges []int64, index int) {
	for _, i := range s.PooledMoments() {
		if own := s.ClipEdges(i); len(own) > len(edges) {
			edges, index = own, i
		}
	}
	return edges, index
}

// ValuesLooked is what a look at values is about.
func (s *Study) ValuesLooked() Looking {
	index := s.PooledMoments()[0]
	return s.Looking(s.Features(0, index), s.MomentEntries(index), false)
}

// Looking is what noisy sums of values and of their squares are about, by which entries are moved and scaled.
type Looking struct {
	Entries []Looked
	Level   int64 // what a value at its end is in them, and its square: a power of two from one up
	squared int64
}

// Looked is an entry that a look is about.
type Looked struct {
	Entry, Value int   // its places among what is standardised, and among a record's inputs
	Middle, Half int64 // a value is at most half from middle
	Square       bool  // its square is summed, too
	Absent       int64 // what stands for an absent value
}

// looking is the most that a look's sensitivity is, squared, unless records are very wide.
const looking = 1 << 40

// Looking is a look at what is standardised of a record with these features, given by their places: at what is scaled
// or, with all, at every one. The squared length that one record can have in it, or move it by, is in units in which a
// value at its end is 1: with its square, s² + s⁴ ≤ 2, and in the place of another value (s−s')²(1+(s+s')²) ≤ 4, as a
// bit; a category is 1 in one entry.
func (s *Study) Looking(features []Feature, places []int, all bool) Looking {
	out := Looking{Level: s.Bits.One()}
	replaced, last := s.Privacy.Replaced, -1
	for at, i := range places {
		f := features[i]
		c := s.Columns[f.Column]
		if !all && !s.Scaled(f) {
			continue
		}
		l := Looked{Entry: at, Value: i, Half: c.Scale.Range(s.Bits) / 2, Square: c.Kind == Numeric, Absent: s.Still(f).Centre / 16}
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

// Change is how far one record moves it.
func (l Looking) Change() dp.Sensitivity {
	return dp.Within(l.squared*l.Level*l.Level, 2*len(l.Entries))
}

// Scaled reports whether a feature is scaled by its spread where a sketch standardises: a number with bounds.
func (s *Study) Scaled(f Feature) bool {
	c := s.Columns[f.Column]
	_, _, bounded := c.Scale.Bounds()
	return bounded && c.Kind == Numeric
}

// Still is how an entry stays where the public centre has it.
func (s *Study) Still(f Feature) sketch.Standard {
	one := s.Bits.One()
	return sketch.Standard{Centre: 16 * s.CentreOf(f, one), Spread: 16 * one}
}

// LengthChange is how far one record moves counts of lengths: it is in one of them, and its replacement in another.
func (s *Study) LengthChange() (dp.Sensitivity, error) {
	return dp.RecordCounts(1, dp.CountWeight, s.Neighbours())
}

// describeLook says what a look is.
func (s *Study) describeLook(i int, noisy string) string {
	if s.LooksAtValues() {
		n := 2 * int64(len(s.ValuesLooked().Entries))
		return fmt.Sprintf("of the first round: %d integers, %s, however many records there are: of each numeric column with bounds the %s sum of its values and that of their squares. By the sum over all parties the second round moves and scales these columns", n, s.Sizes(n, n), noisy)
	}
	edges, _ := s.LookEdges()
	n := int64(len(edges)) + 1
	return fmt.Sprintf("of the first round: %d integers, %s, however many records there are: %s counts of your records by their lengths. By the sum over all parties the second round takes its clip", n, s.Sizes(n, n), noisy)
}

// describePooled says what of moments follows from a look.
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
