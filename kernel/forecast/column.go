package forecast

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Column is the distribution that a column's encoded values are expected to have.
type Column struct {
	Mean     float64
	Spread   float64 // standard deviation, above 0
	Skewness float64
	Kurtosis float64 // fourth standardised moment: 3 for a normal distribution, 9/5 for a uniform one
}

// Normal is a normal distribution.
func Normal(mean, spread float64) Column { return Column{Mean: mean, Spread: spread, Kurtosis: 3} }

// Binary is 1 with the given probability, else 0.
func Binary(p float64) Column {
	spread := math.Sqrt(p * (1 - p))
	skewness := (1 - 2*p) / spread
	return Column{Mean: p, Spread: spread, Skewness: skewness, Kurtosis: 1 + skewness*skewness}
}

// moments returns E xⁿ for n from 0 to 4.
func (c Column) moments() [5]float64 {
	m, s := c.Mean, c.Spread
	s2 := s * s
	return [5]float64{
		1, m, m*m + s2,
		m*m*m + 3*m*s2 + c.Skewness*s2*s,
		m*m*m*m + 6*m*m*s2 + 4*m*c.Skewness*s2*s + c.Kurtosis*s2*s2,
	}
}

// Contribution is what of a record's values goes into a sketch once they are
// clipped: they shrink together by a factor f = min(1, clip/length).
type Contribution struct {
	Mean    float64 // E f
	Square  float64 // E f²
	Clipped float64 // share of the records with f < 1
}

// Whole is the contribution of records that are not clipped.
func Whole() Contribution { return Contribution{Mean: 1, Square: 1} }

// quantiles is how many points stand for the distribution of a record's length.
const quantiles = 256

// Clipped is the contribution of records clipped to length clip, whose derived vector
// holds ones of a weight, which stay as they are, and beside them values of the columns, with
// their squares if so asked. The squared length of these is taken as a gamma variable with
// the mean and variance that independent columns give it.
func Clipped(clip, ones float64, squares bool, columns []Column) Contribution {
	clip = math.Sqrt(math.Max(0, clip*clip-ones*ones))
	var mean, variance float64
	for _, c := range columns {
		m := c.moments()
		spread := m[4] - m[2]*m[2]
		mean += m[2]
		if squares {
			mean += m[4]
			spread *= (1 + 2*m[2]) * (1 + 2*m[2])
		}
		variance += spread
	}
	if !(mean > 0) || !(variance > 1e-12*mean*mean) {
		return constantly(clip, mean)
	}
	length := distuv.Gamma{Alpha: mean * mean / variance, Beta: mean / variance}
	var c Contribution
	for i := range quantiles {
		f := constantly(clip, length.Quantile((float64(i)+0.5)/quantiles))
		c.Mean += f.Mean / quantiles
		c.Square += f.Square / quantiles
		c.Clipped += f.Clipped / quantiles
	}
	return c
}

// constantly is the contribution of records that all have one squared length.
func constantly(clip, squared float64) Contribution {
	if squared <= clip*clip {
		return Whole()
	}
	f := clip / math.Sqrt(squared)
	return Contribution{Mean: f, Square: f * f, Clipped: 1}
}
