package study

import (
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Sides moments and cells are sums over records that are moved to a public centre and
// clipped, without a projection. They are for horizontal studies, where one party has all
// columns of a record.

// IntegerClip is the l2 bound on one record's contribution in integer units, on the
// columns side and of sums of its derived vector, on the records side of its unscaled
// sketch; 0 where records are not clipped. It is rounded down, so that the sensitivity
// that follows from it is not exceeded.
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

// length is that of a longest record, in integer units, or where records are not clipped
// of a single value: what weights are chosen by.
func (s *Study) length(index int) int64 {
	if clip := s.IntegerClip(index); clip > 0 {
		return clip
	}
	return s.Bits.One()
}

// Centres are the integers that are taken off the encoded values of a sums sketch before
// they are clipped.
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

// sumsLimit is how many records of one party a sums sketch holds exactly, over all parties
// and with noise: half of what an int64 sum over Summands parties may be.
func (s *Study) sumsLimit(index int) int64 {
	row, _ := additiveOf(s.Sketches[index].Side)
	return row.limit(s, index, 1<<61/s.Summands())
}

// CompleteSums fills in the projection that stands for a sketch in the study's meaning where it follows from its
// other keys.
func (s *Study) CompleteSums(index int) {
	if row, ok := additiveOf(s.Sketches[index].Side); ok && row.project != nil {
		row.project(s, index)
	}
}

// AutoBits is the resolution of a study that leaves it open: what its projections need,
// but no more than its moments can take.
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

// Taking is a copy of the study with another sketch in the place of one, and, where the
// sums of that ask for it, another resolution. It is for plans: nothing is validated, and no
// file has it.
func (s *Study) Taking(index int, sk Sketch) *Study {
	out := *s
	out.Sketches = slices.Clone(s.Sketches)
	out.Sketches[index] = sk
	out.CompleteSums(index)
	if row, ok := additiveOf(sk.Side); ok && row.bits != nil {
		out.Bits = row.bits(&out, index, out.Bits)
	}
	return &out
}

// Neighbours says what a record's contribution becomes under unit record.
func (s *Study) Neighbours() dp.Neighbours {
	if s.Privacy.Replaced {
		return dp.Replaced
	}
	return dp.Zeroed
}

// moments is the index of the first moments sketch that has products or, if none has, of the first;
// -1 without one.
func (s *Study) moments() int {
	products := func(sk Sketch) bool { return sk.Side == sketch.Moments && sk.Moments.Sums > 0 }
	if at := slices.IndexFunc(s.Sketches, products); at >= 0 {
		return at
	}
	return slices.IndexFunc(s.Sketches, func(sk Sketch) bool { return sk.Side == sketch.Moments })
}

// Moments is the index of the sketch whose eigenvectors the cells of a study are projected
// on; ok is false where there is none.
func (s *Study) Moments() (index int, ok bool) {
	index = s.moments()
	return index, index >= 0
}

// Method is how a sketch compresses records, in a few words.
func (sk Sketch) Method() string {
	if row, ok := additiveOf(sk.Side); ok {
		return row.method(sk)
	}
	return sk.Projection.String()
}

// describeSums says what a sketch of sums over records is.
func (s *Study) describeSums(row additive, i int) string {
	noisy := "exact"
	if s.Privacy.Mechanism != dp.None {
		noisy = "noisy"
	}
	return row.says(s, i, noisy)
}
