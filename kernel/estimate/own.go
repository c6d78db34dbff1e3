package estimate

import "math"

// PublishedMoments are moments of a column over its party's own records. They are published beside the sketch,
// with their own noise, in the units of the value column.
type PublishedMoments struct {
	Sketched         float64 // mean of the values as they were sketched, where records may be clipped
	Variance         float64 // of the values as they were sketched; noise may make it negative
	VarianceVariance float64 // of the variance's error
	Mean             float64 // of the values before clipping
	MeanVariance     float64 // of the mean's error
}

// ownStands is the least ratio of an own variance to its standard error for it to be a divisor.
const ownStands = 3.5

func (o PublishedMoments) stands() bool {
	return o.Variance > ownStands*math.Sqrt(o.VarianceVariance) && o.Variance > 0
}

func (o PublishedMoments) standing() Standing {
	return Standing{Value: o.Variance / math.Sqrt(o.VarianceVariance), Threshold: ownStands}
}

// mean estimates the mean. Its only error is the noise.
func (o PublishedMoments) mean(level Level) Estimate {
	reach := float64(level.z() * math.Sqrt(o.MeanVariance))
	return newEstimate(o.Mean, o.Mean-reach, o.Mean+reach, math.Inf(-1), math.Inf(1)).withVariance(o.MeanVariance)
}

// correlationOfOwn is E2 with the means and variances that both parties published. Only the product
// of the centred columns and the number of shared records come from sketches,
//
//	ρ = ⟨x − μ1_A, y − ν1_B⟩/(N s_x s_y),
//
// so a column whose norm is lost in the noise of the sketch has correlations, too. The error of a
// published mean is of second order, as the other column is centred. The error of the variances is
// in the interval.
func (g *Gram) correlationOfOwn(x, y Variable, level Level) Estimate {
	if !x.Own.stands() || !y.Own.stands() {
		return undefined(noVariance)
	}
	n, err := g.overlap(x.Ones, y.Ones)
	if !(n > 0) {
		return undefined(noOverlap)
	}
	restX, restY := x.value().minus(x.Own.Sketched, x.one()), y.value().minus(y.Own.Sketched, y.one())
	spread := math.Sqrt(x.Own.Variance) * math.Sqrt(y.Own.Variance)
	r := ratio{n: g.product(restX, restY), m: float64(n * spread), numerator: form{{1, restX, restY}}, denominator: err.times(spread)}
	for _, v := range []Variable{x, y} {
		r.extra += v.Own.VarianceVariance / 4 / float64(v.Own.Variance*v.Own.Variance)
		if x.Ones.Column != y.Ones.Column {
			r.extra += sampling(v, n, n) // the public number of its own records
		}
	}
	return r.estimate(g, level, -1, 1)
}
