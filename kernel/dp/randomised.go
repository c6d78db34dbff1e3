package dp

import (
	"errors"
	"fmt"
	"math"
)

// Flips is randomised response (Warner 1965) on fixed-point bits, the values 0 and one. Every bit
// is flipped independently with probability p. What follows (projection, summing) is
// post-processing. A change of one bit changes the probability of any outcome by a factor of at
// most (1-p)/p, so p = 1/(1+e^ε) is pure ε for each bit.
//
// p is a multiple of 1/one, rounded up. It is drawn exactly from log2(one) random bits, and P =
// p·one is an integer. A randomised bit b is kept as one·b - P, whose mean is exactly (1-2p) times
// the true value, without an offset. Flips is immutable; RandomiseBits makes it.
type Flips struct {
	one     int64 // a power of two
	flipped int64 // P, from 1 to below one/2
}

// maxFlipsOne bounds one, so that float64 holds the fourth cumulant's terms exactly.
const maxFlipsOne = 1 << 20

// RandomiseBits returns the flips that keep a guarantee of mechanism RandomisedResponse, for bits
// stored as 0 and one. One is a power of two from 2 to 2^20. It returns an error if one is so small
// that p would round up to a half, which would leave no information about the data.
func RandomiseBits(g Guarantee, one int64) (Flips, error) {
	switch {
	case g.mechanism != RandomisedResponse:
		return Flips{}, fmt.Errorf("randomising bits under mechanism %.40q: want %s", string(g.mechanism), RandomisedResponse)
	case one < 2 || one > maxFlipsOne || one&(one-1) != 0:
		return Flips{}, fmt.Errorf("randomising bits of size %d: want a power of two from 2 to %d", one, maxFlipsOne)
	}
	// The margin covers the error of exp, so that p rounded up is never below the true p.
	const margin = 1 + 1e-12
	flipped := max(1, int64(math.Ceil(float64(one)*margin/(1+math.Exp(float64(g.budget.Epsilon))))))
	if 2*flipped >= one {
		return Flips{}, fmt.Errorf("randomising bits of size %d with %v would flip them with probability 1/2 and reveal nothing: raise epsilon or bits", one, g)
	}
	return Flips{one: one, flipped: flipped}, nil
}

// Zero reports whether there is nothing to flip, as for every other mechanism.
func (f Flips) Zero() bool { return f.one == 0 }

func (f Flips) Probability() float64 { return float64(f.flipped) / float64(f.one) }

// Span returns one - 2P: the change of a randomised bit's mean when the true bit changes from 0 to
// one. Dividing by it gives unbiased bits.
func (f Flips) Span() int64 { return f.one - 2*f.flipped }

// Variance returns the variance of a randomised bit, P·(one-P), in squared units of
// values. It does not depend on the true bit.
func (f Flips) Variance() float64 { return float64(f.flipped * (f.one - f.flipped)) }

// FourthCumulant returns the fourth cumulant of a randomised bit, v·(one²-6v) for variance v. It is
// negative from p = .2113 on, that is for ε below 1.317.
func (f Flips) FourthCumulant() float64 {
	v := f.Variance()
	return v * (float64(f.one*f.one) - float64(6*v))
}

// Epsilon returns the ε that p gives, ln((1-p)/p). It is at most the ε that was asked for.
func (f Flips) Epsilon() Epsilon {
	return Epsilon(math.Log(float64(f.one-f.flipped) / float64(f.flipped)))
}

// String describes the randomisation.
func (f Flips) String() string {
	return fmt.Sprintf("each bit is flipped with probability %.4g", f.Probability())
}

// Randomise replaces each value, 0 or one, by its randomised bit, one-P or -P. On an
// error values are unchanged.
func (f Flips) Randomise(values []int64, g *Generator) error {
	if f.Zero() {
		return errors.New("randomising bits: no probability was calibrated")
	}
	for i, v := range values {
		if v != 0 && v != f.one {
			return fmt.Errorf("randomising bits: value %d of %d is neither 0 nor one", i, len(values))
		}
	}
	for i, v := range values {
		if int64(g.Uint64()&uint64(f.one-1)) < f.flipped {
			v = f.one - v
		}
		values[i] = v - f.flipped
	}
	return nil
}
