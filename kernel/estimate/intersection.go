package estimate

import (
	"fmt"
	"math"
)

// Ones locates a party's column of ones.
type Ones struct {
	Column  int     // its index in the Gram
	Weight  float64 // required: the entry of a record that the party holds, in the sketch's units; above 0
	Records int     // the party's public record count; 0 when unknown
}

// refuse gives the reason why the column cannot be used, or "".
func (o Ones) refuse() string {
	if !(o.Weight > 0) {
		return fmt.Sprintf("a column of ones has weight %g", o.Weight)
	}
	return ""
}

// known is the product of the column with itself if that is public, else 0.
func (o Ones) known() float64 {
	return float64(o.Records)
}

// column is the column in units in which an entry is 1.
func (o Ones) column() Combination { return Combination{{o.Column, 1 / o.Weight}} }

// Intersection estimates how many records two parties share: the product ⟨1_A, 1_B⟩, which is
// unbiased as ones are never clipped. With both record counts it is within [0, min(n_A, n_B)]. The
// squared norms are then known to be the counts, so their observed errors reduce the error of the
// product (control variates: Lavenberg and Welch 1981):
//
//	N̂ = ⟨1_A, 1_B⟩ − g'S⁻¹u,   u = (|1_A|² − n_A, |1_B|² − n_B),
//
// S are the covariances of u under the general rule, and g those of u with the product. Both depend
// on N: the estimate solves the equation. The interval holds all N within z standard errors of it,
// the standard error being that at N.
func (g *Gram) Intersection(a, b Ones, level Level) Estimate {
	for _, why := range []string{level.refuse(), a.refuse(), b.refuse()} {
		if why != "" {
			return undefined(why)
		}
	}
	if s, ok := g.shared(a, b); ok {
		return s.estimate(level)
	}
	e := g.InnerProduct(a.column(), b.column(), level)
	if !e.Defined() {
		return e
	}
	return newEstimate(e.Interval.Estimate, e.Low, e.High, 0, math.Inf(1)).withVariance(e.StandardError * e.StandardError)
}

// shared is what a Gram tells about the number of records that two parties share, if both counts
// are known.
type shared struct {
	product  float64    // ⟨1_A, 1_B⟩
	off      [2]float64 // by how much the squared norms exceed the counts
	raw      [2]float64 // expected squared norms with noise
	noise    [2]float64 // what the noise's fourth cumulants add to the variances of these
	k, most  float64
	one, two Combination
}

// shared returns false if a count is unknown.
func (g *Gram) shared(a, b Ones) (s shared, ok bool) {
	if a.Records <= 0 || b.Records <= 0 {
		return shared{}, false
	}
	s = shared{k: float64(g.k), most: float64(min(a.Records, b.Records)), one: a.column(), two: b.column()}
	s.product = g.product(s.one, s.two)
	for i, o := range []Ones{a, b} {
		noise, n := g.noiseOf(o.column()), float64(o.Records)
		s.off[i] = g.product(o.column(), o.column()) - n
		s.raw[i] = n + float64(s.k*noise.Variance)
		s.noise[i] = float64(s.k * noise.FourthCumulant)
	}
	return s, true
}

// weights returns S⁻¹g if n records are shared, and the residual variance. The two errors, each in
// its own standard errors, have their sum and difference as principal axes.
func (s shared) weights(n float64) (c [2]float64, variance float64) {
	var deviation, along [2]float64
	for i, h := range s.raw {
		deviation[i] = math.Sqrt(float64(2*h*h)/s.k + s.noise[i])
		along[i] = float64(2*n*h) / s.k / deviation[i]
	}
	together := float64(2*n*n) / s.k / deviation[0] / deviation[1]
	sum := (along[0] + along[1]) / 2 / (1 + together)
	var difference float64
	if apart := 1 - together; apart > rounding { // else the errors are identical
		difference = (along[0] - along[1]) / 2 / apart
	}
	variance = (float64(s.raw[0]*s.raw[1])+float64(n*n))/s.k - float64(sum*(along[0]+along[1])) - float64(difference*(along[0]-along[1]))
	return [2]float64{(sum + difference) / deviation[0], (sum - difference) / deviation[1]}, math.Max(0, variance)
}

// excess is the estimate minus n, and the variance of the estimate if n records are shared.
func (s shared) excess(n float64) (by, variance float64) {
	c, variance := s.weights(n)
	return s.product - n - float64(c[0]*s.off[0]) - float64(c[1]*s.off[1]), variance
}

// at is the number of shared records that equals its own estimate, within [0, most].
func (s shared) at() float64 {
	by := func(n float64) float64 {
		excess, _ := s.excess(n)
		return excess
	}
	switch {
	case !(by(0) > 0):
		return 0
	case !(by(s.most) < 0):
		return s.most
	}
	return bisect(0, s.most, func(n float64) bool { return by(n) > 0 })
}

func (s shared) estimate(level Level) Estimate {
	z2, at := float64(level.z()*level.z()), s.at()
	within := func(n float64) bool {
		by, variance := s.excess(n)
		return float64(by*by) <= float64(z2*variance)
	}
	_, variance := s.excess(at)
	half := math.Sqrt(float64(z2 * variance))
	low, high := at-half, at+half
	// If the estimate is clamped, there may be no number within: then the plain interval is used.
	if within(at) || at > 0 && at < s.most {
		if low = 0; !within(0) {
			low = bisect(0, at, func(n float64) bool { return !within(n) })
		}
		if high = s.most; !within(s.most) {
			high = bisect(at, s.most, within)
		}
	}
	slack := float64(rounding * s.most)
	return newEstimate(at, low-slack, high+slack, 0, s.most).withVariance(variance)
}

// bisect returns the point up to which a condition holds. It must hold at low and not at high.
func bisect(low, high float64, holds func(float64) bool) float64 {
	for range 60 {
		if middle := low + float64((high-low)/2); holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low + float64((high-low)/2)
}
