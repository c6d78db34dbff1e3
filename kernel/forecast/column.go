package forecast

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Column is the expected distribution of a column's encoded values.
type Column struct {
	Mean     float64
	Spread   float64 // standard deviation, above 0
	Skewness float64
	Kurtosis float64 // fourth standardised moment: 3 for a normal distribution, 9/5 for a uniform one
}

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

// Contribution describes what clipping leaves of a record's values in a sketch: all shrink by a
// factor f = min(1, clip/length).
type Contribution struct {
	Mean    float64 // E f
	Square  float64 // E f²
	Clipped float64 // share of records with f < 1
}

// Whole is the contribution of records that are not clipped.
func Whole() Contribution { return Contribution{Mean: 1, Square: 1} }

// quantiles is the number of points that represent the distribution of a record's length.
const quantiles = 256

// coarseQuantiles is the number of points that represent the distribution of the length of all columns but
// one.
const coarseQuantiles = 32

// Clipped returns the contribution of records clipped to length clip. Their derived vector holds
// ones of a weight, which are not scaled, and values of the columns, with their squares if asked.
// The squared length of the values is taken as a gamma variable with the mean and variance that
// independent columns give it.
func Clipped(clip, ones float64, squares bool, columns []Column) Contribution {
	clip = beside(clip, ones)
	var c Contribution
	all := lengths(columns, squares, quantiles)
	for _, squared := range all {
		f := fixedLength(clip, squared)
		c.Mean += f.Mean / float64(len(all))
		c.Square += f.Square / float64(len(all))
		c.Clipped += f.Clipped / float64(len(all))
	}
	return c
}

// beside returns the part of a clip that ones of this weight leave.
func beside(clip, ones float64) float64 { return math.Sqrt(math.Max(0, clip*clip-ones*ones)) }

// lengths returns quantiles of the squared length of records, or the single value that all have.
func lengths(columns []Column, squares bool, points int) []float64 {
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
		return []float64{mean}
	}
	length := distuv.Gamma{Alpha: mean * mean / variance, Beta: mean / variance}
	out := make([]float64, points)
	for i := range out {
		out[i] = length.Quantile((float64(i) + 0.5) / float64(points))
	}
	return out
}

// ClippedMoments is the mean and the mean square of a column after its records are clipped.
type ClippedMoments struct{ Mean, Square float64 }

// maxLooColumns is the largest number of columns at which a single one has a noticeable part in a record's
// length.
const maxLooColumns = 32

// ClippedMomentsOf returns what clipping leaves of each of the columns, for records as in Clipped. The other
// columns of its records are those in around, which is in the same order. If a column is a bit, its
// rarer value is in the longer records, which are shortened more than others.
func ClippedMomentsOf(clip, ones float64, columns, around []Column) []ClippedMoments {
	all := Clipped(clip, ones, false, around)
	clip = beside(clip, ones)
	whole := lengths(around, false, coarseQuantiles)
	out := make([]ClippedMoments, len(columns))
	for i, c := range columns {
		m := c.moments()
		out[i] = ClippedMoments{Mean: all.Mean * m[1], Square: all.Square * m[2]}
		rare, low, high := c.bit()
		if !(rare > 0) {
			continue
		}
		rest := whole
		if len(columns) <= maxLooColumns {
			rest = lengths(slices.Concat(around[:i], around[i+1:]), false, coarseQuantiles)
		}
		out[i] = ClippedMoments{}
		for _, squared := range rest {
			for _, at := range []struct{ share, value float64 }{{1 - rare, low}, {rare, high}} {
				f := fixedLength(clip, squared+at.value*at.value)
				share := at.share / float64(len(rest))
				out[i].Mean += share * f.Mean * at.value
				out[i].Square += share * f.Square * at.value * at.value
			}
		}
	}
	return out
}

// bit returns both values of a column that has only two, and the share of the higher one. The share
// is 0 if the column has more values.
func (c Column) bit() (share, low, high float64) {
	g := c.Skewness
	if math.Abs(c.Kurtosis-1-g*g) > 1e-9*c.Kurtosis || !(c.Spread > 0) {
		return 0, 0, 0
	}
	share = (1 - g/math.Sqrt(4+g*g)) / 2
	odds := math.Sqrt((1 - share) / share)
	return share, c.Mean - c.Spread/odds, c.Mean + c.Spread*odds
}

// fixedLength returns the contribution of records that all have this squared length.
func fixedLength(clip, squared float64) Contribution {
	if squared <= clip*clip {
		return Whole()
	}
	f := clip / math.Sqrt(squared)
	return Contribution{Mean: f, Square: f * f, Clipped: 1}
}
