package estimate

import "math"

// squared is a quantity t like a squared norm, over a number of records, with its estimate.
type squared struct {
	estimate float64
	push     float64 // its bias, to second order
	noise    float64 // what noise adds to it, already subtracted
	variance float64 // of its error, if t is the estimate
	k        float64 // degrees of freedom
}

// estimateAt bounds t by the score interval: of the variance, 2(t + noise)²/k depends on t, the
// rest does not.
func (s squared) estimateAt(level Level) Estimate {
	z2 := float64(level.z() * level.z())
	a := 1 - 2*z2/s.k
	if a <= 0 {
		return tooSmall(int(s.k), 2*z2, level)
	}
	raw := s.estimate + s.noise
	rest := s.variance - 2*float64(raw*raw)/s.k
	at := raw - s.push
	low, high := between(a, at, float64(at*at)-float64(z2*rest))
	return newEstimate(s.estimate, low-s.noise, high-s.noise, 0, math.Inf(1)).withVariance(s.variance)
}
