package estimate

import "math"

// InnerProduct estimates ⟨x, y⟩. Columns of two parties multiply over the records
// that both hold: a record of only one of them adds error of mean zero. The
// interval is the estimate ± z√Var, Var = (ab + c²)/k with the raw squared norms
// a, b and the raw product c (C3), which contains the noise.
func (g *Gram) InnerProduct(x, y Combination, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	product := g.product(x, y)
	variance := g.variance(form{{1, x, y}})
	half := level.z() * math.Sqrt(variance)
	return finish(product, product-half, product+half, math.Inf(-1), math.Inf(1)).deviating(variance)
}

// SquaredNorm estimates |x|². The estimate is unbiased and may be negative under
// noise; the interval is not. See [Records.SquaredNorm] for the interval.
func (g *Gram) SquaredNorm(x Combination, level Level) Estimate {
	return quadratic{
		raw:        bilinear(g.raw, x, x),
		k:          g.k,
		noise:      g.noiseOf(x),
		projection: true,
	}.estimate(level)
}

// SquaredDistance estimates |x − y|², over the records of both parties, a record
// that one party lacks counting as zero there.
func (g *Gram) SquaredDistance(x, y Combination, level Level) Estimate {
	return g.SquaredNorm(x.minus(1, y), level)
}

// noiseOf is the noise on a coordinate of a combination.
func (g *Gram) noiseOf(x Combination) Noise {
	weights := make(map[int]float64)
	var order []int // sums in a fixed order
	for _, t := range x {
		if _, ok := weights[t.Column]; !ok {
			order = append(order, t.Column)
		}
		weights[t.Column] += t.Weight
	}
	var sum Noise
	for _, column := range order {
		w2 := weights[column] * weights[column]
		sum.Variance += w2 * g.noise[column].Variance
		sum.FourthCumulant += w2 * w2 * g.noise[column].FourthCumulant
	}
	return sum
}
