package forecast

import (
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/projection"
)

// Law describes the errors of sketched records: from the choice of R, and from the noise on every
// coordinate.
type Law struct {
	Projection projection.Spec // required, valid
	Features   int             // required: d, the length of a record before projection
	Noise      estimate.Noise  // on one coordinate of one record, in the units of Difference
	Bits       bool            // randomised response: values are bits, with the noise added before the projection
}

// NoiseOf returns calibrated noise in real units: unit is the real size of one integer step of a
// sketch's entries (R's scale times that of the fixed point).
func NoiseOf(n dp.Noise, unit float64) estimate.Noise {
	u2 := unit * unit
	return estimate.Noise{Variance: n.Variance() * u2, FourthCumulant: n.FourthCumulant() * u2 * u2}
}

// Difference is the size of z = x − y, for two records x and y.
type Difference struct {
	Squared float64 // |z|²
	Fourth  float64 // Σz⁴
}

// Typical returns the expected difference of two independent records.
func Typical(columns []Column) Difference {
	var z Difference
	for _, c := range columns {
		v := c.Spread * c.Spread
		z.Squared += 2 * v
		z.Fourth += (2*c.Kurtosis + 6) * v * v
	}
	return z
}

// Distance returns the variance of the estimate of |z|² for two noised records.
func (l Law) Distance(z Difference) float64 {
	if l.Bits {
		return l.response(z)
	}
	k, v := float64(l.Projection.K), l.Noise.Variance
	noise := 8*v*z.Squared + 8*k*v*v + 2*k*l.Noise.FourthCumulant
	if l.Projection.OrthogonalRows(l.Features) {
		return noise
	}
	return l.Projection.Variance(l.Features).Distance(z.Squared, z.Fourth) + noise
}

// OptimalK returns the k at which Distance is least if the noise on a coordinate does not depend on
// k (see [Method.NoiseGrows]): √(A/(8v² + 2κ)), A being k times the projection's variance, in
// closed form and not rounded. It is infinite without noise.
func (l Law) OptimalK(z Difference) float64 {
	k := float64(l.Projection.K)
	a := 2 * (z.Squared*z.Squared - z.Fourth)
	switch l.Projection.Family {
	case projection.Hadamard: // (size − k)/(size − 1) times that of signs
		size := float64(projection.HadamardSize(l.Features))
		a *= size / math.Max(size-1, 1)
	case projection.Identity:
		return k
	default:
		a = k * l.Projection.Variance(l.Features).Distance(z.Squared, z.Fourth)
	}
	return math.Sqrt(math.Max(a, 0) / (8*l.Noise.Variance*l.Noise.Variance + 2*l.Noise.FourthCumulant))
}

// Relative returns the error of an estimate with this variance, in units of the estimated number.
// It is undefined if that is not above 0, as for the distance of records that are all alike.
func Relative(variance, of float64) Error {
	if !(of > 0) {
		return Error{Undefined: "the number is 0, so it has no relative error"}
	}
	d := math.Sqrt(math.Max(0, variance)) / of // rounding may make it slightly negative
	return Error{StandardError: d, HalfWidth: quantile(0) * d, z: quantile(0)}
}
