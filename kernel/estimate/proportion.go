package estimate

import "math"

// Proportion estimates a probability from independent trials, by Wilson's score interval (1927).
// Its coverage averages the level over probabilities, and is hardly below it for any (Brown, Cai
// and DasGupta 2001).
func Proportion(successes, trials int, l Level) Estimate {
	if why := l.refuse(); why != "" {
		return undefined(why)
	}
	if trials < 1 {
		return undefined("there are no records")
	}
	n, z := float64(trials), l.z()
	p, z2 := float64(successes)/n, float64(z*z)
	middle := (p + z2/float64(2*n)) / (1 + z2/n)
	reach := float64(z / (1 + z2/n) * math.Sqrt(float64(p*(1-p))/n+z2/float64(float64(4*n)*n)))
	return newEstimate(p, middle-reach, middle+reach, 0, 1).withVariance(p * (1 - p) / n)
}

// Affine is the estimate of factor·q + shift, where e is one of q and factor is above 0. It
// recovers a probability that was mixed with a known one: the number is unbiased and may be outside
// [0, 1], the interval is clamped to it.
func (e Estimate) Affine(factor, shift float64) Estimate {
	if !e.Defined() {
		return e
	}
	d := factor * e.StandardError
	at := func(x float64) float64 { return float64(factor*x) + shift }
	return newEstimate(at(e.Interval.Estimate), at(e.Low), at(e.High), 0, 1).withVariance(d * d)
}
