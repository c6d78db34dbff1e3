package estimate

import (
	"fmt"
	"math"
)

// Level is the coverage that an interval is built for, between 0 and 1. Zero
// stands for [DefaultLevel].
type Level float64

// DefaultLevel is the level of intervals for which none was asked.
const DefaultLevel Level = 0.95

// Bonferroni is the level at which each of tests intervals has to be built for
// all of them to hold together at level l, whatever their
// dependence.
//
// The uniform bound of Laurent and Massart, |χ²_k − k| ≤ 2√(kt) + 2t with
// probability 1 − 2e^−t, is not offered beside it: for N norms it takes t =
// ln(2N/α), and so bounds from outside the very quantiles, of tail α/2N, between
// which Bonferroni's intervals are built. It is never the tighter one.
func (l Level) Bonferroni(tests int) Level {
	return 1 - (1-l.orDefault())/Level(max(tests, 1))
}

func (l Level) orDefault() Level {
	if l == 0 {
		return DefaultLevel
	}
	return l
}

// refuse gives the reason for which no interval has this level, or "".
func (l Level) refuse() string {
	if v := l.orDefault(); !(v > 0 && v < 1) {
		return fmt.Sprintf("level %g is not between 0 and 1", float64(l))
	}
	return ""
}

// tail is the probability left out on one side.
func (l Level) tail() float64 {
	return float64(float64(1-l.orDefault()) / 2)
}

// Interval is a number with the interval that covers it at the asked level.
type Interval struct {
	Estimate float64
	Low      float64
	High     float64
}

// Estimate is an interval, or the reason why there is none.
type Estimate struct {
	Interval
	Deviation  float64 // standard deviation of the estimate's error, where the interval comes from sketches
	Population Span    // the second interval, which adds the error of sampling, where a Sample gave one
	Undefined  string  // empty when the interval holds; otherwise why there is none, and Interval is zero

	least, most float64 // the range of the quantity, where there is an interval
}

func (e Estimate) Defined() bool { return e.Undefined == "" }

// String gives the number and its interval, or the reason why there is none.
func (e Estimate) String() string {
	if !e.Defined() {
		return "undefined: " + e.Undefined
	}
	return fmt.Sprintf("%.6g [%.6g, %.6g]", e.Interval.Estimate, e.Low, e.High)
}

// Times is the estimate in other units: all of it times t, which is above 0.
func (e Estimate) Times(t float64) Estimate {
	if !e.Defined() {
		return e
	}
	out := finish(t*e.Interval.Estimate, t*e.Low, t*e.High, t*e.least, t*e.most)
	if out.Defined() {
		if out.Deviation = t * e.Deviation; math.IsInf(out.Deviation, 0) {
			return undefined(tooLarge)
		}
	}
	return out.spanning(e.Population.times(t, 0))
}

// Plus is the estimate from another zero: all of it plus t.
func (e Estimate) Plus(t float64) Estimate {
	if !e.Defined() {
		return e
	}
	return finish(e.Interval.Estimate+t, e.Low+t, e.High+t, e.least+t, e.most+t).deviating(e.Deviation * e.Deviation).spanning(e.Population.times(1, t))
}

// Within is the estimate of a number that can only be within [lo, hi]: number and interval
// are cut to it.
func (e Estimate) Within(lo, hi float64) Estimate {
	if !e.Defined() {
		return e
	}
	p := e.Population
	p.Low, p.High = clamp(p.Low, lo, hi), clamp(p.High, lo, hi)
	return finish(clamp(e.Interval.Estimate, lo, hi), e.Low, e.High, lo, hi).deviating(e.Deviation * e.Deviation).spanning(p)
}

const tooLarge = "the numbers are too large for float64"

func undefined(why string) Estimate { return Estimate{Undefined: why} }

// finish keeps the interval within [lo, hi], the range of the quantity, and turns
// what overflowed into an undefined estimate. The point estimate is left as it is.
func finish(estimate, low, high, lo, hi float64) Estimate {
	low, high = clamp(low, lo, hi), clamp(high, lo, hi)
	for _, v := range []float64{estimate, low, high} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return undefined(tooLarge)
		}
	}
	return Estimate{Interval: Interval{Estimate: estimate, Low: low, High: high}, least: lo, most: hi}
}

// spanning is the estimate with its second interval, where both hold.
func (e Estimate) spanning(s Span) Estimate {
	if s.Known && e.Defined() && !math.IsInf(s.Low, 0) && !math.IsInf(s.High, 0) {
		e.Population = s
	}
	return e
}

// deviating is the estimate with the variance of its error.
func (e Estimate) deviating(variance float64) Estimate {
	if !e.Defined() {
		return e
	}
	if e.Deviation = math.Sqrt(math.Max(0, variance)); math.IsInf(e.Deviation, 0) || math.IsNaN(e.Deviation) {
		return undefined(tooLarge)
	}
	return e
}

func clamp(v, lo, hi float64) float64 { return math.Min(math.Max(v, lo), hi) }
