package fixedpoint

import (
	"fmt"
	"math"
)

// Bits is the resolution f of the fixed point: the unit interval has 2^f steps. It is between 1 and
// MaxBits.
type Bits int

// MaxBits is the finest resolution. At 14 bits an int64 holds the exact sum of 2.8·10^14 values.
const MaxBits Bits = 14

// Check returns an error if the resolution is outside 1 to MaxBits.
func (f Bits) Check() error {
	if f < 1 || f > MaxBits {
		return fmt.Errorf("%d bits of fixed point: must be between 1 and %d", f, MaxBits)
	}
	return nil
}

// One returns 2^f, the integer that represents 1. It is the largest absolute value of an encoded
// entry, except on an Unlimited scale.
func (f Bits) One() int64 { return 1 << f }

// AutoBits returns the least resolution whose rounding bias on a correlation is negligible relative
// to the error 1/√k of a k-dimensional projection.
//
// The bias is largest for data on a lattice: about g/(2s), where the grid g is one step and the
// spread s is taken as a third of the half range. It must stay below 0.01/√k. A half range has
// 2^(f-1) steps for bounds, the coarser of the two scale forms. Hence 3/2^f < 0.01/√k, that is 4^f
// > 90000 k, decided in integers.
//
// The result lies between 9 and MaxBits. From k = 2983 on it is MaxBits, although the bias may then
// be up to 0.01·√(k/2983) of the projection's error.
func AutoBits(k int) Bits {
	need := uint64(90000) * uint64(max(k, 1))
	for f := Bits(1); f < MaxBits; f++ {
		if uint64(1)<<(2*f) > need {
			return f
		}
	}
	return MaxBits
}

// Weight returns the entry of a helper column of constant weight w, such as the column of ones:
// round(w·2^f), half away from zero. w must be in [0, 1].
func Weight(w float64, f Bits) int64 {
	return int64(math.Round(min(max(w, 0), 1) * float64(f.One())))
}

// Square returns the entry of a squared value column for an encoded value v: round(v²/2^f), half
// up, at most 2^f. With u = v/2^f in [-1, 1], the entry represents u² in units of 2^-f, the units
// of all other entries.
func Square(v int64, f Bits) int64 { return (v*v + f.One()/2) >> f }
