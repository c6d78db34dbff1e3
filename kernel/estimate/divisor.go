package estimate

import "math"

// StandsOut is how many standard errors a number must be above zero to be a divisor: a variance, a
// number of records, a fraction of them. No quotient by a smaller one is shown.
//
// A threshold selects numbers whose errors made them too large, and no threshold avoids that. For
// variances of 1, 2, 3, 4 and 5 standard errors that pass this one, plain intervals cover 0, .63,
// .92, .96 and .97. Higher thresholds leave more undefined and cover as little just below them. So
// intervals of divisors that passed narrowly correct for the selection: see divisor.
const StandsOut = 3.5

// widened sets up to where selection is corrected for: this many standard errors, beyond the
// quantile of the level, above the threshold. At level .95 that is up to 6 standard errors, where
// the correction moves the ends by less than .2.
const widened = 0.5

// leastDivisor is the smallest divisor that is considered, in standard errors. A divisor that may
// be zero does not bound the ratio; the range of the ratio does.
const leastDivisor = 0.05

// divisor is a number that others are divided by. Its error is about normal. The variance of the
// error grows with the number V as that of a squared norm of k coordinates does: by 2((V + noise)²
// − noise²)/k above its value at V = 0.
type divisor struct {
	value    float64
	variance float64 // of the error, if the true number is value
	noise    float64 // what noise adds to the squared norm
	k        float64 // infinite without a projection
}

// plainDivisor is a divisor whose error does not depend on its value.
func plainDivisor(value, variance float64) divisor {
	return divisor{value: value, variance: variance, k: math.Inf(1)}
}

// at is the standard error if the number is v.
func (d divisor) at(v float64) float64 {
	grown := 2 * float64((v-d.value)*(v+d.value+2*d.noise)) / d.k
	return math.Sqrt(math.Max(0, d.variance+grown))
}

// threshold is what the number must exceed to be a divisor.
func (d divisor) threshold() float64 { return float64(StandsOut * d.at(0)) }

// stands reports whether the number exceeds its threshold and zero.
func (d divisor) stands() bool { return d.value > 0 && d.value > d.threshold() }

// narrow reports whether the number is so close to its threshold that intervals must correct for
// the selection.
func (d divisor) narrow(level Level) bool {
	return d.variance > 0 && d.value < d.threshold()+float64((level.z()+widened)*d.at(d.value))
}

// interval holds the values V for which this probability is between tail and 1 − tail: that a
// number which passes the threshold comes out at least as large as this one,
//
//	P(Z > (value − V)/se | Z > (threshold − V)/se).
func (d divisor) interval(level Level) (low, high float64) {
	tail := level.tail()
	return d.invert(tail), d.invert(1 - tail)
}

// invert is the V at which the conditional probability, which grows with V, equals share. It is at
// least zero.
func (d divisor) invert(share float64) float64 {
	least := d.threshold()
	above := func(v float64) bool {
		se := d.at(v)
		if se == 0 {
			return v > d.value
		}
		return logUpper((d.value-v)/se)-logUpper((least-v)/se) > math.Log(share)
	}
	low, high := 0.0, d.value+d.at(d.value)
	if above(low) {
		return 0
	}
	for step := d.at(d.value); !above(high) && high < math.MaxFloat64/4; step *= 2 {
		low, high = high, high+step
	}
	return stable(bisect(low, high, func(v float64) bool { return !above(v) }))
}

// logUpper is the logarithm of P(Z > x).
func logUpper(x float64) float64 {
	if x < 25 {
		return stable(math.Log(math.Erfc(x/math.Sqrt2) / 2))
	}
	// Mills's ratio, to a relative error of 3/x⁴.
	x2 := float64(x * x)
	return -float64(x2/2) - stable(math.Log(x*math.Sqrt(2*math.Pi))) - 1/x2
}

// shrink is the smallest divisor considered, as a fraction of the one observed. It is below 1 if
// the divisor is narrow: from the lower end of its interval. Otherwise the error of the ratio
// covers it all.
func (d divisor) shrink(level Level) float64 {
	if !d.narrow(level) {
		return 1
	}
	low, _ := d.interval(level)
	return math.Min(1, math.Max(low, leastDivisor*d.at(d.value))/d.value)
}

// widen is the interval of the number itself. If it is narrow, that is the hull of the plain
// interval and the one corrected for the selection.
func (d divisor) widen(e Estimate, level Level) Estimate {
	if !e.Defined() || !d.narrow(level) {
		return e
	}
	low, high := d.interval(level)
	e.Low, e.High = math.Min(e.Low, low), math.Max(e.High, high)
	return e
}

// over is the interval of a ratio whose denominator may be shrink times the observed one. It is the
// hull of Fieller's interval and the numerator's interval over the smallest denominator. If shrink
// is 1 it is Fieller's.
func (f fieller) over(shrink float64, level Level, lo, hi float64) Estimate {
	e := f.estimate(level, lo, hi)
	if !e.Defined() || shrink >= 1 {
		return e
	}
	half := float64(level.z() * math.Sqrt(math.Max(0, f.nn)))
	e.Low = clamp(math.Min(e.Low, (f.ratio-half)/shrink), lo, hi)
	e.High = clamp(math.Max(e.High, (f.ratio+half)/shrink), lo, hi)
	return e
}
