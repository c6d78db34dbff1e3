package dp

import "math/bits"

// The exact integer samplers of Canonne, Kamath and Steinke 2020, on which the table samplers are
// built: bernoulli(exp(-γ)) is their algorithm 1; geometric and discreteLaplace are algorithm 2.
// The tests use their algorithm 3, the discrete Gaussian, as a reference.

// fraction is num/den with den's highest bit set.
type fraction struct{ num, den uint128 }

// fractionOf scales num/den, 0 ≤ num ≤ den and den > 0, to a fraction.
func fractionOf(num, den uint128) fraction {
	n := den.leadingZeros()
	return fraction{num.shifted(n), den.shifted(n)}
}

// bernoulli is true with probability p: a uniform integer below p.den is below p.num. Its low word
// is drawn only if the high word does not decide.
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
	return !g.bernoulli(p) || g.expMinusAfter(p)
}

// expMinusAfter continues a draw of probability exp(-γ), γ ≤ 1, whose first trial, of probability
// γ, has succeeded. A trial of probability γ/k is one of γ and one of 1/k.
func (g *Generator) expMinusAfter(gamma fraction) bool {
	k := uint64(2)
	for g.bernoulli(gamma) && g.Uint64N(k) == 0 {
		k++
	}
	return k%2 == 1
}

// geometric is the distribution on 0, 1, 2, … with P(j) ∝ exp(-j/t),
// t = numerator/2^shift, numerator from 1 to maxScale and shift below 64.
type geometric struct {
	numerator uint64
	shift     uint
}

// scale returns t.
func (d geometric) scale() float64 {
	return float64(d.numerator) / float64(uint64(1)<<d.shift)
}

// draw returns a value modulo 2^64.
func (d geometric) draw(g *Generator) uint64 {
	for {
		u := g.Uint64N(d.numerator)
		if !g.expMinus(uint128{lo: u}, uint128{lo: d.numerator}) {
			continue
		}
		scales := uint64(0)
		for g.expMinusOne() {
			scales++
		}
		return d.value(u, scales)
	}
}

// value returns ⌊(numerator·scales + u)/2^shift⌋ modulo 2^64.
func (d geometric) value(u, scales uint64) uint64 {
	hi, lo := bits.Mul64(d.numerator, scales)
	lo, carry := bits.Add64(lo, u, 0)
	hi += carry
	return lo>>d.shift | hi<<(64-d.shift) // a shift by 64 gives 0
}

// discreteLaplace is the distribution on the integers with P(j) ∝ exp(-|j|/t), t the
// scale of its geometric distribution.
type discreteLaplace struct{ geometric }

// draw returns a value modulo 2^64. A value of at least 0 is geometric; one below 0 is
// -1 less a geometric value, and exp(-1/t) times as likely.
func (d discreteLaplace) draw(g *Generator) int64 {
	for {
		x := d.geometric.draw(g)
		switch {
		case g.Uint64()&1 == 0:
			return int64(x)
		case g.expMinus(uint128{lo: 1 << d.shift}, uint128{lo: d.numerator}):
			return int64(^x)
		}
	}
}

// add adds an independent value to every entry.
func (d discreteLaplace) add(g *Generator, dst []int64) {
	for i := range dst {
		dst[i] += d.draw(g)
	}
}
