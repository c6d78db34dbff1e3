package estimate

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A doubt is a variance of an explaining variable that stands out so narrowly that it may be
// smaller by Less. With s the row of the variable in the inverse of the covariances, coefficients b
// that solve C b = c then become
//
//	b + Less·s·b_own/(1 − Less·s_own)
//
// (Sherman and Morrison). For one variable this is c over the smaller variance.
type doubt struct {
	own  int       // index of the variable among the explaining ones
	row  float64   // s_own
	move []float64 // of each coefficient, per unit of the own one
}

type doubts []doubt

// doubtsOf returns the doubts among some variances, given the inverse of the covariances of their
// variables. The factor raised is that on each variance. The part of a variance not explained by
// the other variables, 1/s_own, is kept at or above the least divisor.
func doubtsOf(variances []divisor, inverse *mat.Dense, raised float64, level Level) (out doubts) {
	for own, d := range variances {
		if shrink := d.shrink(level); shrink < 1 {
			out = append(out, doubtOf(own, float64(raised*float64(d.value*(1-shrink))), leastDivisor*d.at(d.value), inverse))
		}
	}
	return out
}

func doubtOf(own int, less, least float64, inverse *mat.Dense) doubt {
	row := inverse.RawRowView(own)
	left := 1 / row[own]
	less = math.Max(0, math.Min(less, left-least))
	return doubt{own, row[own], times(less/(1-float64(less*row[own])), row)}
}

// bend widens the intervals of coefficients by what each doubt may change.
func (ds doubts) bend(of []Estimate) []Estimate {
	out := make([]Estimate, len(of))
	for a, e := range of {
		out[a] = ds.bendCombination(e, of, func(b int) float64 {
			if a == b {
				return 1
			}
			return 0
		})
	}
	return out
}

// bendCombination widens the interval of a weighted sum of the coefficients.
func (ds doubts) bendCombination(e Estimate, of []Estimate, weight func(int) float64) Estimate {
	if !e.Defined() {
		return e
	}
	for _, d := range ds {
		var move float64
		for b, m := range d.move {
			if w := weight(b); w != 0 {
				move += float64(w * m)
			}
		}
		own := of[d.own]
		if !own.Defined() {
			return own
		}
		one, other := float64(move*own.Low), float64(move*own.High)
		e.Low += math.Min(0, math.Min(one, other))
		e.High += math.Max(0, math.Max(one, other))
	}
	return newEstimate(e.Interval.Estimate, e.Low, e.High, math.Inf(-1), math.Inf(1)).withVariance(e.StandardError * e.StandardError)
}

// explained is how much larger cᵀC⁻¹c may be: Less·b_own²/(1 − Less·s_own). That is an explained
// variance or the squared distance of two means.
func (ds doubts) explained(of []Estimate) (more float64) {
	for _, d := range ds {
		if own := of[d.own]; own.Defined() {
			most := math.Max(math.Abs(own.Low), math.Abs(own.High))
			more += float64(float64(most*most)*d.move[d.own]) / d.row
		}
	}
	return more
}
