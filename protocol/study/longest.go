package study

import (
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// LargestRecord returns the most that a record's values add to its l1 norm on the columns side, in
// integer units, and to its squared l2 norm: each value is at one of its ends.
func (s *Study) LargestRecord(party, index int) (l1, square int64) {
	squares, one := s.Sketches[index].Helpers.Squares, s.Bits.One()
	column := -1
	for _, f := range s.Features(party, index) {
		if f.Kind != Value && f.Kind != OneHot || f.Kind == OneHot && f.Column == column {
			continue // only one entry of a categorical column is not zero
		}
		column = f.Column
		c := s.Columns[column]
		var centre int64
		if s.Centred(index) {
			centre = s.CentreOf(f, one)
		}
		var far, farSquare int64
		for _, end := range []int64{one - c.Scale.Range(s.Bits), one} {
			v := end - centre
			a, b := max(v, -v), v*v
			if squares {
				q := fixedpoint.Square(v, s.Bits)
				a, b = a+q, b+q*q
			}
			far, farSquare = max(far, a), max(farSquare, b)
		}
		if _, _, bounded := c.Scale.Bounds(); bounded && c.Kind == Numeric && s.StandardisedColumns(index) {
			far, farSquare = one, one*one // three spreads
		}
		l1, square = l1+far, square+farSquare
	}
	return l1, square
}

// LongestRecord returns the length of the longest record that a party can have on the columns
// side, with its ones. It is rounded up, so that a clip of this length changes no record.
func (s *Study) LongestRecord(party, index int) int64 {
	_, square := s.LargestRecord(party, index)
	values, ones := dp.CeilSqrt(square), int64(math.Round(s.Sketches[index].Helpers.Ones*float64(s.Bits.One())))
	return dp.CeilSqrt(values*values + ones*ones)
}

// CountsClipped reports whether a columns sketch has an extra row that counts clipped records. It has
// if there is noise and some party's records can exceed the clip. A standardised sketch has this
// count among its own sums instead.
func (s *Study) CountsClipped(index int) bool {
	clip := s.IntegerClip(index)
	noisy := s.Privacy.Mechanism == dp.Gaussian || s.Privacy.Mechanism == dp.Laplace
	if s.Sketches[index].Side != sketch.Columns || clip == 0 || !noisy || s.StandardisedColumns(index) {
		return false
	}
	for party := range s.Parties {
		if s.LongestRecord(party, index) > clip {
			return true
		}
	}
	return false
}
