package estimate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// quadratic is the squared norm S of one sketched vector, noise included.
type quadratic struct {
	raw        float64 // S
	k          int
	noise      Noise // on a coordinate of the vector
	projection bool  // false for identity: the only error is the noise
}

// estimate takes the noise off, t = S − k·v, and bounds t.
//
// Gaussian noise: S is (t/k + v)·χ²_k, exactly so for Gaussian R, with smaller
// variance for families with unit rows (C1). Other noise, and the identity, take
// the score interval of t from Var = 2t²/k + 4vt + 2kv² + kκ, without its first
// term for the identity (C2). The score interval needs k > 2z².
func (q quadratic) estimate(level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	k, v := float64(q.k), q.noise.Variance
	t := q.raw - k*v
	if q.projection && q.noise.FourthCumulant == 0 {
		chi := distuv.ChiSquared{K: k}
		low := k * (q.raw/chi.Quantile(1-level.tail()) - v)
		high := k * (q.raw/chi.Quantile(level.tail()) - v)
		return finish(t, low, high, 0, math.Inf(1)).deviating(q.variance(t))
	}
	z2 := level.z() * level.z()
	a := 1.0
	if q.projection {
		a -= 2 * z2 / k
		if a <= 0 {
			return undefined(fmt.Sprintf("k = %d is too small for an interval at level %g: it takes more than %.1f",
				q.k, float64(level.orDefault()), 2*z2))
		}
	}
	// (t0 − t)² ≤ z²·Var(t0) as a·t0² − 2b·t0 + c ≤ 0.
	b := t + 2*v*z2
	c := t*t - z2*(2*k*v*v+k*q.noise.FourthCumulant)
	root := math.Sqrt(math.Max(0, b*b-a*c))
	return finish(t, (b-root)/a, (b+root)/a, 0, math.Inf(1)).deviating(q.variance(t))
}

// variance of the estimate where the squared norm is t.
func (q quadratic) variance(t float64) float64 {
	k, v := float64(q.k), q.noise.Variance
	sum := 4*v*t + 2*k*v*v + k*q.noise.FourthCumulant
	if q.projection {
		sum += 2 * t * t / k
	}
	return sum
}
