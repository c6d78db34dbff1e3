package dp

import "math/bits"

// The samplers of Canonne, Kamath and Steinke 2020, in integers: bernoulli(exp(-γ)) is
// their algorithm 1, discreteLaplace algorithm 2, discreteGaussian algorithm 3.

// fraction is num/den with den's highest bit set.
type fraction struct{ num, den uint128 }

// fractionOf scales num/den, 0 ≤ num ≤ den and den > 0, to a fraction.
func fractionOf(num, den uint128) fraction {
	n := den.leadingZeros()
	return fraction{num.shifted(n), den.shifted(n)}
}

// bernoulli is true with probability p: a uniform integer below p.den is below p.num.
// Its low word is drawn only when the high word leaves the question open.
func (g *Generator) bernoulli(p fraction) bool {
	for {
		u := uint128{hi: g.Uint64()}
		if u.hi > p.den.hi {
			continue
		}
		if u.hi != p.den.hi && u.hi != p.num.hi {
			return u.hi < p.num.hi
		}
		if u.lo = g.Uint64(); u.less(p.den) {
			return u.less(p.num)
		}
	}
}

// expMinusOne is true with probability exp(-1).
func (g *Generator) expMinusOne() bool {
	k := uint64(2) // the first trial of probability 1/1 is certain
	for g.Uint64N(k) == 0 {
		k++
	}
	return k%2 == 1
}

// expMinus is true with probability exp(-num/den), den > 0.
func (g *Generator) expMinus(num, den uint128) bool {
	for !num.less(den) {
		if !g.expMinusOne() {
			return false
		}
		num = num.minus(den)
	}
	p := fractionOf(num, den)
	k := uint64(1) // the trial of probability γ/k is one of γ and one of 1/k
	for g.bernoulli(p) && (k == 1 || g.Uint64N(k) == 0) {
		k++
	}
	return k%2 == 1
}

// discreteLaplace is the distribution on the integers with P(j) ∝ exp(-|j|/t),
// t = numerator/2^shift, numerator from 1 to maxScale.
type discreteLaplace struct {
	numerator uint64
	shift     uint
}

func (l discreteLaplace) scale() float64 {
	return float64(l.numerator) / float64(uint64(1)<<l.shift)
}

// draw returns a value below 4096·t + 1 in magnitude.
func (l discreteLaplace) draw(g *Generator) int64 {
	den := uint128{lo: l.numerator}
	for {
		u := g.Uint64N(l.numerator)
		if !g.expMinus(uint128{lo: u}, den) {
			continue
		}
		scales := uint64(0)
		for scales < 4096 && g.expMinusOne() {
			scales++
		}
		if scales == 4096 {
			continue
		}
		x := int64((u + l.numerator*scales) >> l.shift)
		switch negative := g.Uint64()&1 == 1; {
		case !negative:
			return x
		case x != 0: // a zero of either sign would count twice
			return -x
		}
	}
}

// discreteGaussian is the distribution on the integers with P(j) ∝ exp(-j²/(2·variance)).
type discreteGaussian struct {
	variance uint64 // from 1 to maxVariance
	proposal discreteLaplace
	twice    uint128 // 2·variance·t², t the proposal's scale
}

func newDiscreteGaussian(variance uint64) discreteGaussian {
	t := uint128{lo: variance}.root() + 1
	den := multiply(2*variance, t)
	hi, lo := bits.Mul64(den.lo, t)
	return discreteGaussian{
		variance: variance,
		proposal: discreteLaplace{numerator: t},
		twice:    uint128{hi + den.hi*t, lo},
	}
}

// draw accepts a proposal y with probability exp(-(|y|-v/t)²/(2v)). It returns a value
// below 120·t in magnitude.
func (d discreteGaussian) draw(g *Generator) int64 {
	t := d.proposal.numerator
	for {
		y := d.proposal.draw(g)
		size := magnitude(y)
		if size >= 120*t {
			continue
		}
		a := magnitude(int64(size*t) - int64(d.variance)) // 120·t² < 2^63
		if g.expMinus(multiply(a, a), d.twice) {
			return y
		}
	}
}
