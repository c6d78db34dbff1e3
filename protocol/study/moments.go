package study

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

const (
	autoMomentBits    = 12 // largest value of "bits: auto"
	leastMomentLength = 64 // steps
	mostFine          = 4  // bits
)

// Shares of a moments sketch's μ² for a party's own noisy moments, by which it standardises, and
// for its own noisy lengths, by which it chooses its clip. The sketch has the rest.
const (
	shareStandardise  = 0.1
	shareLengths      = 0.06
	shareLengthsAlone = 0.2 // without products
)

// ofMoments returns the row of sums of records and of their products. The sketch keeps every
// feature.
func ofMoments() additive {
	return additive{
		side: sketch.Moments, label: true,
		absent: "Moments leave an absent value out; the number of absent values leaves with them, with noise.",
		project: func(s *Study, index int) {
			s.Sketches[index].Projection = projection.Spec{Family: projection.Identity, K: len(s.Features(0, index))}
		},
		limit: (*Study).momentsLimit, bits: (*Study).momentBits,
		method: func(Sketch) string { return "second moments" },
		says:   (*Study).describeMoments,
	}
}

// MeansApart reports whether a sketch of sums alone, before this one of moments, answers means.
func (s *Study) MeansApart(index int) bool {
	return slices.ContainsFunc(s.Sketches[:index], func(sk Sketch) bool { return sk.Side == sketch.Moments && sk.Moments.Sums == 0 })
}

// Has reports whether the study has a sketch of a side.
func (s *Study) Has(side sketch.Side) bool {
	for _, sk := range s.Sketches {
		if sk.Side == side {
			return true
		}
	}
	return false
}

// AllBounded reports whether no column has a centre and a spread.
func (s *Study) AllBounded() bool {
	for _, c := range s.Columns {
		if _, _, ok := c.Scale.CentreSpread(); ok {
			return false
		}
	}
	return true
}

// AnyBounded reports whether some numeric column has bounds.
func (s *Study) AnyBounded() bool {
	return slices.ContainsFunc(s.Columns, func(c Column) bool {
		_, _, bounded := c.Scale.Bounds()
		return bounded && c.Kind == Numeric
	})
}

// Unlimited reports whether values are kept beyond three spreads. They are if all sketches clip whole
// records to a length, so that no other limit is needed. See fixedpoint.Scale.Unlimited. Without
// noise records are not clipped, and exact sums of unlimited values would hold few of them.
func (s *Study) Unlimited() bool {
	return s.Privacy.Unit == dp.Record && s.Privacy.Mechanism != dp.None && s.allSums()
}

func (s *Study) allSums() bool {
	for _, sk := range s.Sketches {
		if !sk.Side.Sums() {
			return false
		}
	}
	return len(s.Sketches) > 0
}

// labelApart reports whether a feature of a moments sketch belongs to a label with classes. Such a
// label is counted by class and is not part of the clipped records.
func (s *Study) labelApart(index int, f Feature) bool {
	return s.Sketches[index].Side == sketch.Moments && f.Column >= 0 && s.Columns[f.Column].Label && len(s.Columns[f.Column].Classes()) > 0
}

// MomentEntries returns the indices of the features of a moments sketch that are entries of the
// records it sums: all but those of the label.
func (s *Study) MomentEntries(index int) (entries []int) {
	for i, f := range s.Features(0, index) {
		if !s.labelApart(index, f) {
			entries = append(entries, i)
		}
	}
	return entries
}

// MomentClasses returns the number of classes that a moments sketch counts: those of the label and,
// if absent values are counted, one for records without a label. It is 0 without a label.
func (s *Study) MomentClasses(index int) int {
	c, ok := s.Label()
	switch {
	case !ok || len(c.Classes()) == 0:
		return 0
	case s.Records.Missing == MissingCount:
		return len(c.Classes()) + 1
	}
	return len(c.Classes())
}

// Unlabelled reports whether the last class of a moments sketch holds the records without a label.
func (s *Study) Unlabelled(index int) bool {
	return s.Records.Missing == MissingCount && s.MomentClasses(index) > 0
}

// MomentLayout returns the layout of a moments sketch.
func (s *Study) MomentLayout(index int) sketch.MomentLayout {
	sk := s.Sketches[index]
	l := sketch.MomentLayout{
		Columns: len(s.MomentEntries(index)), Products: sk.Moments.Sums > 0, Classes: s.MomentClasses(index), Fourth: sk.Moments.Fourth,
		Cut: s.cuts(index), CutSums: s.cuts(index) && !s.ForProducts(index),
	}
	if s.Records.Missing == MissingCount {
		typical, _ := s.typical(index)
		l.Attributes = len(typical)
	}
	return l
}

// cuts reports whether records of a moments sketch can be longer than its clip.
func (s *Study) cuts(index int) bool {
	return s.Privacy.Mechanism != dp.None && s.Privacy.Unit == dp.Record && !s.Sketches[index].Whole
}

// TakesOwnClip reports whether each party chooses among the clips of a moments sketch, even if
// there is only one.
func (s *Study) TakesOwnClip(index int) bool {
	return s.cuts(index) && s.Sketches[index].OwnClip && !s.Pooled(index)
}

// MomentWeights returns the weights of a moments sketch clipped to a length; a length of 0 stands
// for records that are not clipped.
func (s *Study) MomentWeights(index int, clip int64) (dp.MomentWeights, error) {
	if clip == 0 {
		clip = max(s.Bits.One(), leastMomentLength)
	}
	l := s.MomentLayout(index)
	parts := dp.MomentParts{
		Products: l.Products, SumWeight: int64(s.Sketches[index].Moments.Sums), Label: l.Classes > 0, Cut: l.Cut, CutSums: l.CutSums, Fourth: l.Fourth, Neighbours: s.Neighbours(), Fine: s.Fine(),
	}
	if l.Attributes > 0 {
		parts.Typical, _ = s.typical(index)
	}
	return dp.NewMomentWeights(clip, parts)
}

// MomentShare divides a moments sketch's μ²: sums is the share of its sums, standard that of the
// party's own moments, by which it standardises, and lengths that of its own lengths.
func (s *Study) MomentShare(index int) (sums, standard, lengths float64) {
	if s.Privacy.Mechanism == dp.None || s.Pooled(index) {
		return 1, 0, 0
	}
	sums = 1
	sk := s.Sketches[index]
	if sk.Standardise {
		standard = shareStandardise
	}
	switch {
	case sk.OwnClip && sk.Moments.Sums > 0:
		lengths = shareLengths
	case sk.OwnClip:
		lengths = shareLengthsAlone
	}
	return 1 - standard - lengths, standard, lengths
}

// Fine returns how many bits finer than Bits the values of records are read. If whole records are
// clipped, products of values need coarse steps. Sums use finer ones, so that rounding does not
// move means.
func (s *Study) Fine() uint {
	if !s.Unlimited() {
		return 0
	}
	if at := s.moments(); at >= 0 && s.Sketches[at].Moments.Sums == 0 {
		return 0 // there are no products
	}
	return uint(min(mostFine, fixedpoint.MaxBits-s.Bits))
}

// ReadBits is the resolution at which values are read.
func (s *Study) ReadBits() fixedpoint.Bits { return s.Bits + fixedpoint.Bits(s.Fine()) }

// Reach returns the largest entry of a record around the centre, in integer units.
func (s *Study) Reach() int64 {
	if s.Unlimited() {
		return fixedpoint.Far
	}
	return s.Bits.One()
}

// describeMoments describes a moments sketch.
func (s *Study) describeMoments(i int, noisy string) string {
	sk, l := s.Sketches[i], s.MomentLayout(i)
	n := s.MomentPrefix(i) + int64(l.Entries())
	out := fmt.Sprintf("moments, %d integers, %s, however many records there are: %s sums over all records ", n, s.Sizes(n, n), noisy)
	switch {
	case l.Products && l.Classes > 0:
		out += fmt.Sprintf("of their %d values and of the products of each two of these; sums of the values also by class of the label, with the number of records of each class", l.Columns)
	case l.Products:
		out += fmt.Sprintf("of their %d values and of the products of each two of these", l.Columns)
	case l.Classes > 0:
		out += fmt.Sprintf("of their %d values, and the number of records of each class of the label", l.Columns)
	default:
		out += fmt.Sprintf("of their %d values", l.Columns)
	}
	if l.Fourth {
		out += "; sums of the values' fourth powers"
	}
	if l.Attributes > 0 {
		out += "; how many records lack a value, by column"
		if l.Products {
			out += " and by pair of columns, and sums of the other values of those records"
		}
	}
	if l.Cut {
		out += "; how many records were shortened to the clip"
	}
	if s.Pooled(i) {
		return out + s.describePooled(i)
	}
	if s.TakesOwnClip(i) {
		out += "; the clip itself, a length that your program chooses by noisy counts of the records' lengths"
	}
	if sk.Standardise {
		out += "; the centre and spread of each numeric column with bounds, which your program takes from noisy sums"
	}
	return out
}

// MomentPrefix returns the number of integers before the entries of a released moments sketch: the
// number of the party's own clip, and the centre and spread by which it standardised each entry.
func (s *Study) MomentPrefix(index int) (n int64) {
	if s.TakesOwnClip(index) {
		n++
	}
	if s.Sketches[index].Standardise && !s.Pooled(index) {
		n += 2 * int64(len(s.MomentEntries(index)))
	}
	return n
}
