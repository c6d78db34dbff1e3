package estimate

import "math"

// Cosine estimates ⟨x, y⟩/(|x||y|). Each norm runs over its own party's records,
// the product over those that both hold. The estimate is clamped to [−1, 1]. It is
// undefined where a norm does not stand out of its noise.
func (g *Gram) Cosine(x, y Combination, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	c, why := g.cosine(x, y)
	if why != "" {
		return undefined(why)
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
