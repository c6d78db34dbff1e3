package estimate

import "math"

// ratio is a quantity ρ = n/m of two numbers read from a Gram, each with its error as a form.
type ratio struct {
	n, m        float64 // m > 0
	numerator   form
	denominator form
	extra       float64 // variance of ρ̂/ρ from other causes than the sketch

	divisors []divisor // m, or the part of it that can be small, is the root of their product
}

// rounding is the fraction of the range by which intervals of ratios are widened for float64
// rounding: with equal record sets the errors of a sketch cancel completely.
const rounding = 1e-12

// estimate bounds ρ within [lo, hi].
func (r ratio) estimate(g *Gram, level Level, lo, hi float64) Estimate {
	nn, nm, mm := g.errors(r.numerator, r.denominator)
	shrink := 1.0
	for _, d := range r.divisors {
		shrink *= d.shrink(level)
	}
	return fieller{ratio: r.n / r.m, nn: nn / r.m / r.m, nm: nm / r.m / r.m, mm: mm/r.m/r.m + r.extra}.over(math.Sqrt(shrink), level, lo, hi)
}

// quotient is a ratio as a divisor.
func (g *Gram) quotient(r ratio) divisor {
	if r.m == 0 {
		return divisor{}
	}
	nn, nm, mm := g.errors(r.numerator, r.denominator)
	rho := r.n / r.m
	return plainDivisor(rho, (nn-float64(2*float64(rho*nm))+float64(float64(rho*rho)*mm))/r.m/r.m)
}

// fieller is a ratio of two numbers, with the variances and the covariance of their errors divided
// by the square of the denominator.
type fieller struct {
	ratio      float64
	nn, nm, mm float64
}

// estimate bounds ρ within [lo, hi] by Fieller's method: the set of ρ0 for which (n − ρ0 m)² ≤
// z²·Var(error of n − ρ0·error of m). If the denominator is itself within z standard errors of zero
// the set is unbounded, and the interval is [lo, hi].
func (f fieller) estimate(level Level, lo, hi float64) Estimate {
	z2 := float64(level.z() * level.z())
	rho, nn, nm, mm := f.ratio, f.nn, f.nm, f.mm
	// a ρ0² − 2 b ρ0 + c ≤ 0, and the discriminant b² − a c without cancellation.
	a, b := 1-float64(z2*mm), rho-float64(z2*nm)
	delta := nn - float64(2*float64(rho*nm)) + float64(float64(rho*rho)*mm)
	if a <= 0 {
		return newEstimate(clamp(rho, lo, hi), lo, hi, lo, hi).withVariance(delta)
	}
	discriminant := float64(z2*delta) - float64(float64(z2*z2)*(float64(nn*mm)-float64(nm*nm)))
	half := math.Sqrt(math.Max(0, discriminant)) / a
	if hi-lo < math.MaxFloat64 {
		half += float64(rounding * (hi - lo))
	}
	return newEstimate(clamp(rho, lo, hi), b/a-half, b/a+half, lo, hi).withVariance(delta)
}
