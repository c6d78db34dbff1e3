package estimate

import (
	"fmt"
	"math"
)

// quadratic is the squared norm S of one sketched vector, noise included.
type quadratic struct {
	raw        float64 // S
	k          int
	noise      Noise          // on one coordinate of the vector
	projection bool           // false for identity: its only error is the noise
	ends       *quantileCache // cache of χ² quantiles, if several norms share it
	rounding   float64        // variance that the rounding of values left on a coordinate
}

// estimate subtracts the noise, t = S − k·v, and bounds t.
//
// Gaussian noise: S is (t/k + v)·χ²_k, exactly so for Gaussian R, with smaller variance for
// families with unit rows (C1). Other noise, and the identity, use the score interval of t from Var
// = 2t²/k + 4vt + 2kv² + kκ, without its first term for the identity (C2). The score interval needs
// k > 2z². Noise of n values before the projection adds the fraction k/n of its terms (see the
// package comment).
func (q quadratic) estimate(level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	return q.between(q.quantiles(level))
}

// quantiles are the quantiles for an interval at a level.
type quantiles struct {
	level       Level
	least, most float64 // of χ²_k, for C1 only
	z2          float64 // square of the normal quantile, for C2 only
}

// chi reports whether the interval is that of C1.
func (q quadratic) chi() bool {
	return q.projection && q.noise.FourthCumulant == 0 && q.noise.Sources == 0
}

func (q quadratic) quantiles(level Level) quantiles {
	e := quantiles{level: level}
	if q.chi() {
		e.least, e.most = q.ends.chiSquared(level, float64(q.k))
	} else {
		e.z2 = float64(level.z() * level.z())
	}
	return e
}

func (q quadratic) between(e quantiles) Estimate { return q.rounded(q.unrounded(e), e.level) }

// rounded widens an interval to at least that of rounding alone: roundings of variance r on each
// coordinate give a squared length t an error with mean kr and variance 4rt + 2kr².
func (q quadratic) rounded(e Estimate, level Level) Estimate {
	if !e.Defined() || q.rounding == 0 {
		return e
	}
	t, k, r := math.Max(0, e.Interval.Estimate), float64(q.k), q.rounding
	variance := float64(4*float64(r*t)) + float64(float64(k*float64(r*r))*(2+k))
	half := float64(level.z() * math.Sqrt(variance))
	low, high := math.Min(e.Low, e.Interval.Estimate-half), math.Max(e.High, e.Interval.Estimate+half)
	return newEstimate(e.Interval.Estimate, low, high, 0, math.Inf(1)).withVariance(math.Max(e.StandardError*e.StandardError, variance))
}

func (q quadratic) unrounded(e quantiles) Estimate {
	k, v := float64(q.k), q.noise.Variance
	t := q.raw - float64(k*v)
	if q.chi() {
		low := float64(k * (q.raw/e.most - v))
		high := float64(k * (q.raw/e.least - v))
		return newEstimate(t, low, high, 0, math.Inf(1)).withVariance(q.variance(t))
	}
	z2, a := e.z2, 1.0
	if q.projection {
		a -= 2 * z2 / k
		if a <= 0 {
			return tooSmall(q.k, 2*z2, e.level)
		}
	}
	// (t0 − t)² ≤ z²·Var(t0) as a·t0² − 2b·t0 + c ≤ 0.
	within := q.within()
	b := t + float64(2*float64(float64(within*v)*z2))
	constant := float64(2*float64(float64(float64(within*k)*v)*v)) + float64(k*q.noise.FourthCumulant)
	low, high := between(a, b, float64(t*t)-float64(z2*constant))
	return newEstimate(t, low, high, 0, math.Inf(1)).withVariance(q.variance(t))
}

// within is the factor on the noise variance (see Noise.together). It is 1 for the identity.
func (q quadratic) within() float64 {
	if !q.projection {
		return 1
	}
	return q.noise.together(q.k)
}

// variance is that of the estimate if the squared norm is t. A negative t counts as zero.
func (q quadratic) variance(t float64) float64 {
	t = math.Max(t, 0)
	k, v := float64(q.k), float64(q.within()*q.noise.Variance)
	sum := float64(4*float64(v*t)) + float64(float64(2*float64(k*v))*q.noise.Variance) + float64(k*q.noise.FourthCumulant)
	if q.projection {
		sum += 2 * float64(t*t) / k
	}
	return sum
}

// between gives the roots of a x² − 2b x + c for a > 0, between which it is not positive.
func between(a, b, c float64) (low, high float64) {
	root := math.Sqrt(math.Max(0, float64(b*b)-float64(a*c)))
	return (b - root) / a, (b + root) / a
}

// tooSmall is the undefined estimate of a k that is too small.
func tooSmall(k int, least float64, level Level) Estimate {
	return undefined(fmt.Sprintf("k = %d is too small for an interval at level %.6g: it takes more than %.1f",
		k, float64(level.orDefault()), least))
}
