package study

import (
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Sides moments and cells are sums over records that are shifted to a public centre and clipped,
// without a projection. They are for horizontal studies, where one party has all columns of a
// record.

// IntegerClip returns the l2 bound on one record's contribution in integer units: on the columns
// side and in sums that of its derived vector, on the records side that of its unscaled sketch. It
// is 0 if records are not clipped. It is rounded down, so that the resulting sensitivity is not
// exceeded.
func (s *Study) IntegerClip(index int) int64 {
	if s.Privacy.Mechanism == dp.None || s.Privacy.Unit != dp.Record {
		return 0
	}
	sk := s.Sketches[index]
	bound := sk.Clip * float64(s.Bits.One())
	if sk.Whole {
		return s.wholeLength(index)
	}
	if sk.Side == sketch.Records {
		bound /= sk.Projection.Scale()
	}
	return int64(math.Floor(bound))
}

// length returns the length of a longest record, in integer units; if records are not clipped, that
// of a single value. Weights are chosen by it.
func (s *Study) length(index int) int64 {
	if clip := s.IntegerClip(index); clip > 0 {
		return clip
	}
	return s.Bits.One()
}

// Centres returns the integers subtracted from the encoded values of a sums sketch before they are
// clipped.
func (s *Study) Centres(index int) []int64 {
	features := s.Features(0, index)
	out := make([]int64, len(features))
	for i, f := range features {
		if !s.labelApart(index, f) {
			out[i] = s.CentreOf(f, s.Bits.One())
		}
	}
	return out
}

// sumsLimit returns the number of records of one party for which a sums sketch is sure to be exact,
// over all parties and with noise: entries stay below 2^61, a quarter of the range of int64, over
// Summands parties.
func (s *Study) sumsLimit(index int) int64 {
	row, _ := additiveOf(s.Sketches[index].Side)
	return row.limit(s, index, 1<<61/s.ExactParties())
}

// CompleteSums fills in the projection that stands for a sketch in the study's meaning, if it
// follows from its other keys.
func (s *Study) CompleteSums(index int) {
	if row, ok := additiveOf(s.Sketches[index].Side); ok && row.project != nil {
		row.project(s, index)
	}
}

// AutoBits returns the resolution of a study that leaves it open: what its projections need, but no
// more than its sums allow.
func (s *Study) AutoBits() fixedpoint.Bits {
	if s.Privacy.Mechanism == dp.RandomisedResponse {
		return fixedpoint.MaxBits // no noise grows with it, and flip probabilities are multiples of 2^-bits
	}
	largest, projected := 0, false
	for _, sk := range s.Sketches {
		if !sk.Side.Sums() {
			largest, projected = max(largest, sk.Projection.K), true
		}
	}
	bits := fixedpoint.Bits(autoMomentBits)
	if projected {
		bits = fixedpoint.AutoBits(largest)
	}
	for i, sk := range s.Sketches {
		if row, ok := additiveOf(sk.Side); ok && row.bits != nil {
			bits = row.bits(s, i, bits)
		}
	}
	return bits
}

// WithSketch returns a copy of the study with one sketch replaced and, if the new sketch's sums require
// it, another resolution. It is for plans: nothing is validated, and no file contains it.
func (s *Study) WithSketch(index int, sk Sketch) *Study {
	out := *s
	out.Sketches = slices.Clone(s.Sketches)
	out.Sketches[index] = sk
	out.CompleteSums(index)
	if row, ok := additiveOf(sk.Side); ok && row.bits != nil {
		out.Bits = row.bits(&out, index, out.Bits)
	}
	return &out
}

// Neighbours says what replaces a record's contribution under unit record.
func (s *Study) Neighbours() dp.Neighbours {
	if s.Privacy.Replaced {
		return dp.Replaced
	}
	return dp.Zeroed
}

// moments returns the index of the first moments sketch that has products or, if none has, of the
// first; -1 if there is none.
func (s *Study) moments() int {
	products := func(sk Sketch) bool { return sk.Side == sketch.Moments && sk.Moments.Sums > 0 }
	if at := slices.IndexFunc(s.Sketches, products); at >= 0 {
		return at
	}
	return slices.IndexFunc(s.Sketches, func(sk Sketch) bool { return sk.Side == sketch.Moments })
}

// Moments returns the index of the sketch on whose eigenvectors the cells of a study are projected;
// ok is false if there is none.
func (s *Study) Moments() (index int, ok bool) {
	index = s.moments()
	return index, index >= 0
}

// Method says in a few words how a sketch compresses records.
func (sk Sketch) Method() string {
	if row, ok := additiveOf(sk.Side); ok {
		return row.method(sk)
	}
	return sk.Projection.String()
}

// describeSums describes a sketch of sums over records.
func (s *Study) describeSums(row additive, i int) string {
	noisy := "exact"
	if s.Privacy.Mechanism != dp.None {
		noisy = "noisy"
	}
	return row.says(s, i, noisy)
}
