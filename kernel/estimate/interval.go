package estimate

import (
	"fmt"
	"math"
)

// Level is the coverage of an interval, between 0 and 1. Zero means [DefaultLevel].
type Level float64

// DefaultLevel is the level of intervals if none is given.
const DefaultLevel Level = 0.95

// Bonferroni is the level of each of tests intervals such that all of them hold simultaneously at
// level l, whatever their dependence.
//
// The uniform bound of Laurent and Massart, |χ²_k − k| ≤ 2√(kt) + 2t with probability 1 − 2e^−t, is
// not offered, as it is never tighter. For N norms it takes t = ln(2N/α), and so bounds from
// outside the quantiles of tail α/2N that Bonferroni's intervals use.
func (l Level) Bonferroni(tests int) Level {
	return 1 - (1-l.orDefault())/Level(max(tests, 1))
}

func (l Level) orDefault() Level {
	if l == 0 {
		return DefaultLevel
	}
	return l
}

// refuse gives the reason why no interval has this level, or "".
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

// Estimate is a number with its interval, or the reason why there is none.
type Estimate struct {
	Interval
	StandardError float64 // standard error of the estimate, if the interval comes from sketches
	Population    Span    // the second interval, which adds the sampling error; set by a Sample
	Undefined     string  // empty if the interval holds; otherwise the reason why there is none, and Interval is zero

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

// Times is the estimate in other units: everything times t, which must be above 0.
func (e Estimate) Times(t float64) Estimate {
	if !e.Defined() {
		return e
	}
	out := newEstimate(t*e.Interval.Estimate, t*e.Low, t*e.High, t*e.least, t*e.most)
	if out.Defined() {
		if out.StandardError = t * e.StandardError; math.IsInf(out.StandardError, 0) {
			return undefined(tooLarge)
		}
	}
	return out.withPopulation(e.Population.times(t, 0))
}

// Plus is the estimate with another zero: everything plus t.
func (e Estimate) Plus(t float64) Estimate {
	if !e.Defined() {
		return e
	}
	return newEstimate(e.Interval.Estimate+t, e.Low+t, e.High+t, e.least+t, e.most+t).withVariance(e.StandardError * e.StandardError).withPopulation(e.Population.times(1, t))
}

// Within clamps the number and its interval to [lo, hi], the range of the quantity.
func (e Estimate) Within(lo, hi float64) Estimate {
	if !e.Defined() {
		return e
	}
	p := e.Population
	p.Low, p.High = clamp(p.Low, lo, hi), clamp(p.High, lo, hi)
	return newEstimate(clamp(e.Interval.Estimate, lo, hi), e.Low, e.High, lo, hi).withVariance(e.StandardError * e.StandardError).withPopulation(p)
}

const tooLarge = "the numbers are too large for float64"

func undefined(why string) Estimate { return Estimate{Undefined: why} }

// newEstimate clamps the interval to [lo, hi], the range of the quantity. If a number overflowed, the
// result is undefined. The point estimate is not clamped.
func newEstimate(estimate, low, high, lo, hi float64) Estimate {
	low, high = clamp(low, lo, hi), clamp(high, lo, hi)
	for _, v := range []float64{estimate, low, high} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return undefined(tooLarge)
		}
	}
	return Estimate{Interval: Interval{Estimate: estimate, Low: low, High: high}, least: lo, most: hi}
}

// withPopulation sets the second interval, if both hold.
func (e Estimate) withPopulation(s Span) Estimate {
	if s.Known && e.Defined() && !math.IsInf(s.Low, 0) && !math.IsInf(s.High, 0) {
		e.Population = s
	}
	return e
}

// withVariance sets the standard error from the variance.
func (e Estimate) withVariance(variance float64) Estimate {
	if !e.Defined() {
		return e
	}
	if e.StandardError = math.Sqrt(math.Max(0, variance)); math.IsInf(e.StandardError, 0) || math.IsNaN(e.StandardError) {
		return undefined(tooLarge)
	}
	return e
}

func clamp(v, lo, hi float64) float64 { return math.Min(math.Max(v, lo), hi) }
