package estimate

import (
	"math"
	"slices"
)

// Cosine estimates ⟨x, y⟩/(|x||y|). Each norm is over its own party's records, the product over
// those that both hold. The estimate is clamped to [−1, 1]. It is undefined if a norm does not
// stand out of its noise ([StandsOut]).
func (g *Gram) Cosine(x, y Combination, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	c, why := g.cosine(x, y)
	if why != "" {
		return undefined(why)
	}
	c.divisors = []divisor{g.norm(x), g.norm(y)}
	for _, d := range c.divisors {
		if !d.stands() {
			return undefined("the squared norm of a column does not stand out of the noise")
		}
	}
	return c.estimate(g, level, -1, 1)
}

// cosine is the ratio of ⟨x, y⟩ to |x||y|.
func (g *Gram) cosine(x, y Combination) (ratio, string) {
	xx, yy := g.product(x, x), g.product(y, y)
	if !(xx > 0) || !(yy > 0) {
		return ratio{}, "the squared norm of a column is not above zero once the noise is taken off"
	}
	m := math.Sqrt(xx) * math.Sqrt(yy)
	return ratio{
		n:           g.product(x, y),
		m:           m,
		numerator:   form{{1, x, y}},
		denominator: form{{m / (2 * xx), x, x}, {m / (2 * yy), y, y}},
	}, ""
}

// norm is the squared norm of a combination as a divisor, with its variance by the general rule.
func (g *Gram) norm(x Combination) divisor {
	k, raw, value := float64(g.k), bilinear(g.raw, x, x), g.product(x, x)
	variance := 2 * float64(raw*raw) / k
	if slices.ContainsFunc(x, func(t Term) bool { return g.noise[t.Column].FourthCumulant != 0 || g.noise[t.Column].Sources > 0 }) {
		variance = g.variance(form{{1, x, x}})
	}
	return divisor{value: value, variance: variance, noise: raw - value, k: k}
}

// overlapping is the product of two columns of ones, or of one with itself, as a divisor. By the
// projection alone, the variance of a product c of two grows by c²/k, that of one with itself by
// twice as much.
func (g *Gram) overlapping(a, b Ones) divisor {
	x, y := a.column(), b.column()
	if a.Column == b.Column {
		return g.norm(x)
	}
	return divisor{value: g.product(x, y), variance: g.variance(form{{1, x, y}}), k: 2 * float64(g.k)}
}
