package estimate

import "math"

// InnerProduct estimates ⟨x, y⟩. Columns of two parties multiply over the records that both hold: a
// record of only one of them adds error of mean zero.
//
// The interval is the score interval of C3: all γ within z standard errors of the estimate, where
// the standard error is that of a product γ, Var(γ) = (ab + γ²)/k. The raw squared norms a and b
// contain the noise. The plain interval, ± z√((ab + c²)/k) with the observed product c, covers .92
// instead of .95 for nearly parallel columns at k = 32, and is worse at higher levels. The score
// interval covers .947 to .962 from k = 16 on. It needs k > z².
func (g *Gram) InnerProduct(x, y Combination, level Level) Estimate {
	return g.inner(x, y).estimate(level)
}

// inner is the product of two combinations. It is biased by the noise of the columns that both
// contain.
func (g *Gram) inner(x, y Combination) inner {
	p := inner{
		raw: bilinear(g.raw, x, y), k: g.k,
		norms: float64(bilinear(g.raw, x, x) * bilinear(g.raw, y, y)),
	}
	k := float64(g.k)
	for _, a := range x.merged() {
		for _, b := range y.merged() {
			if a.Column == b.Column {
				w := float64(a.Weight * b.Weight)
				p.bias += float64(float64(k*w) * g.noise[a.Column].Variance)
				p.cumulants += float64(float64(k*float64(w*w)) * g.noise[a.Column].FourthCumulant)
			}
		}
	}
	p.cumulants += g.before(form{{1, x, y}})
	return p
}

// inner is the product c of two sketched vectors, noise included.
type inner struct {
	raw, bias float64 // c, and its bias
	k         int
	norms     float64 // the product of the two raw squared norms
	cumulants float64 // other terms of the variance: fourth cumulants of shared noise, noise before the projection
}

func (p inner) estimate(level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	k, z2 := float64(p.k), float64(level.z()*level.z())
	a := 1 - z2/k
	if a <= 0 {
		return tooSmall(p.k, z2, level)
	}
	low, high := between(a, p.raw, float64(p.raw*p.raw)-float64(z2*(p.norms/k+p.cumulants)))
	variance := (p.norms+float64(p.raw*p.raw))/k + p.cumulants
	return newEstimate(p.raw-p.bias, low-p.bias, high-p.bias, math.Inf(-1), math.Inf(1)).withVariance(variance)
}

// SquaredNorm estimates |x|². The estimate is unbiased, and may be negative under noise; the
// interval is never negative. See [Records.SquaredDistance] for the interval.
func (g *Gram) SquaredNorm(x Combination, level Level) Estimate {
	return quadratic{
		raw:        bilinear(g.raw, x, x),
		k:          g.k,
		noise:      g.noiseOf(x),
		projection: true,
		ends:       &g.ends,
	}.estimate(level)
}

// SquaredDistance estimates |x − y|², over the records of both parties. A record that one party
// lacks counts as zero there.
func (g *Gram) SquaredDistance(x, y Combination, level Level) Estimate {
	return g.SquaredNorm(x.minus(1, y), level)
}

// noiseOf is the noise on a coordinate of a combination.
func (g *Gram) noiseOf(x Combination) Noise {
	var sum Noise
	for _, t := range x.merged() {
		w2 := float64(t.Weight * t.Weight)
		n := g.noise[t.Column]
		sum.Variance += float64(w2 * n.Variance)
		sum.FourthCumulant += float64(float64(w2*w2) * n.FourthCumulant)
		if n.Sources > 0 && (sum.Sources == 0 || n.Sources < sum.Sources) {
			sum.Sources = n.Sources
		}
	}
	return sum
}
