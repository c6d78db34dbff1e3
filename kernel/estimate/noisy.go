package estimate

import "math"

// Noisy is a number with Gaussian noise of known variance, such as a released count.
type Noisy struct {
	Value    float64
	Variance float64
}

// Estimate is the number with its interval. The interval is clamped to at least least.
func (n Noisy) Estimate(level Level, least float64) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	half := float64(level.z() * math.Sqrt(n.Variance))
	return newEstimate(n.Value, n.Value-half, n.Value+half, least, math.Inf(1)).withVariance(n.Variance)
}

// Quotient estimates n/m from numbers with independent noise, with Fieller's interval. It is
// undefined if m does not stand out of its noise.
func Quotient(n, m Noisy, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	if z2 := float64(level.z() * level.z()); !(m.Value > 0) || float64(m.Value*m.Value) <= float64(z2*m.Variance) {
		return undefined("the denominator does not stand out of the noise")
	}
	return fieller{
		ratio: n.Value / m.Value, nn: n.Variance / m.Value / m.Value, mm: m.Variance / m.Value / m.Value,
	}.estimate(level, math.Inf(-1), math.Inf(1))
}

// Squared estimates a squared length from value: that of a noisy vector, with the mean of the
// noise's square subtracted. The variance of value is 4·along·t + across, t being the true squared
// length. The interval holds all t that are within z standard errors of value, the standard error
// being that at t.
func Squared(value, along, across float64, level Level) Estimate {
	if why := level.refuse(); why != "" {
		return undefined(why)
	}
	z2 := float64(level.z() * level.z())
	// (value − t)² ≤ z²·(4·along·t + across), a quadratic inequality in t.
	middle := value + float64(2*float64(z2*along))
	half := math.Sqrt(math.Max(0, float64(middle*middle)-float64(value*value)+float64(z2*across)))
	return newEstimate(value, middle-half, middle+half, 0, math.Inf(1)).withVariance(float64(4*float64(along*math.Max(value, 0))) + across)
}
