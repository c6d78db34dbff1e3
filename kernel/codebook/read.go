package codebook

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
)

const maxBits = fixedpoint.MaxBits

// near is the variance of the cells' centroids around their code points, as a part of the records'
// mean variance along an axis.
const near = 0.1

// Cells converts the summed codes sketches of all parties into cells in the space of the axes, in
// steps. variance is that of the noise on an integer of the sum; records is the number of records
// of all parties.
func Cells(c sketch.Codebook, summed sketch.Sketch, w dp.CellWeights, variance, records float64) (cluster.Cells, error) {
	m, q := len(c.Codes), len(c.Axes)
	if summed.Rows != sketch.CodeRows(m, w) || summed.Cols != 1+q || len(summed.Data) != summed.Rows*summed.Cols || w.Count < 1 {
		return cluster.Cells{}, fmt.Errorf("reading a codes sketch: %d × %d sums, but the codebook has %d points and %d axes", summed.Rows, summed.Cols, m, q)
	}
	weight := float64(w.Count)
	out := cluster.Cells{
		Sums: mat.NewDense(m, q, nil), Places: mat.NewDense(m, q, nil), Records: records,
		Noise: cluster.CellNoise{Count: variance / weight / weight, Sum: variance}, CentroidVariance: near * Square(c) / float64(q),
	}
	for i, code := range c.Codes {
		row := summed.Row(i)
		out.Counts = append(out.Counts, float64(row[0])/weight)
		for a, v := range row[1:] {
			out.Sums.Set(i, a, float64(v))
			out.Places.Set(i, a, float64(code[a]))
		}
	}
	return out, nil
}

// Square returns the mean squared length of records along the axes, in steps, as the radius implies
// it.
func Square(c sketch.Codebook) float64 { return float64(c.Radius) / reach * float64(c.Radius) / reach }

// Back maps a point in the space of the axes to the d columns, in steps around the encoded zero.
// Across the axes the result is at the centre.
func Back(c sketch.Codebook, y []float64) []float64 {
	out := make([]float64, len(c.Centre))
	for j, v := range c.Centre {
		out[j] = float64(v) / whole
		for a, axis := range c.Axes {
			out[j] += float64(axis[j]) / sketch.AxisOne * y[a]
		}
	}
	return out
}

// Sum returns a cluster's sum of column j around the codebook's centre, from its sums along the
// axes. It leaves out the part of records across the axes. The variance of its noise is times that
// of the noise on each sum along an axis.
func Sum(c sketch.Codebook, along []float64, j int) (sum, times float64) {
	for a, axis := range c.Axes {
		entry := float64(axis[j]) / sketch.AxisOne
		sum += entry * along[a]
		times += entry * entry
	}
	return sum, times
}

// Tilts returns, by axis, the variance with which the noise of the first round tilts it towards a
// direction across all axes, per squared step along it: v/λ², v being that of the noise on an entry
// of the covariance and λ the variance along the axis. For a column, multiply by the part of it
// that is across: 1 − times of Sum. It is the first-order perturbation of an eigenvector (Stewart
// and Sun 1990, section V.2), for λ well above the variances across.
func Tilts(c sketch.Codebook, covariance mat.Symmetric, noise float64) []float64 {
	out := make([]float64, len(c.Axes))
	for a, axis := range c.Axes {
		unit := mat.NewVecDense(len(axis), nil)
		for j, v := range axis {
			unit.SetVec(j, float64(v)/sketch.AxisOne)
		}
		if along := mat.Inner(unit, covariance, unit); along > 0 {
			out[a] = noise / along / along
		}
	}
	return out
}
