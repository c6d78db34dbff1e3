package decompose

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// eigen is a symmetric n × n matrix as the sum of values[i]·vectors[i]·vectors[i]ᵀ.
type eigen struct {
	values  []float64
	vectors [][]float64 // orthonormal
}

// maxSweeps bounds Jacobi's method, which converges quadratically: ten sweeps are
// ample for matrices of any size that fits.
const maxSweeps = 60

// symmetric decomposes a matrix by cyclic Jacobi rotations (Golub and Van Loan,
// Matrix Computations, 8.5). It refuses entries that are not finite.
func symmetric(ctx context.Context, a mat.Symmetric) (eigen, error) {
	n := a.SymmetricDim()
	rows, largest := make([][]float64, n), 0.0
	e := eigen{values: make([]float64, n), vectors: make([][]float64, n)}
	for i := range n {
		rows[i], e.vectors[i] = make([]float64, n), make([]float64, n)
		e.vectors[i][i] = 1
		for j := range n {
			v := a.At(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return eigen{}, fmt.Errorf("decomposing a matrix: entry (%d, %d) is not finite", i, j)
			}
			rows[i][j], largest = v, math.Max(largest, math.Abs(v))
		}
	}
	if largest == 0 {
		return e, nil
	}
	for i := range n { // squares of entries neither overflow nor vanish
		for j := range n {
			rows[i][j] /= largest
		}
	}
	for range maxSweeps {
		if err := ctx.Err(); err != nil {
			return eigen{}, err
		}
		if !sweep(rows, e.vectors) {
			break
		}
	}
	for i := range n {
		e.values[i] = float64(rows[i][i] * largest)
	}
	return e, nil
}

// sweep rotates every pair of coordinates once and reports whether any did. Row i
// of vectors is the i-th eigenvector in the making.
func sweep(rows, vectors [][]float64) (rotated bool) {
	const negligible = 1e-17 // relative to the largest entry, which is 1
	for p := range rows {
		for q := p + 1; q < len(rows); q++ {
			x := rows[p][q]
			if math.Abs(x) < negligible {
				continue
			}
			rotated = true
			theta := (rows[q][q] - rows[p][p]) / (2 * x)
			t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
			if theta < 0 {
				t = -t
			}
			cos := 1 / math.Sqrt(float64(t*t)+1)
			sin := float64(t * cos)
			for _, row := range rows {
				row[p], row[q] = turn(cos, sin, row[p], row[q])
			}
			for j := range rows {
				rows[p][j], rows[q][j] = turn(cos, sin, rows[p][j], rows[q][j])
				vectors[p][j], vectors[q][j] = turn(cos, sin, vectors[p][j], vectors[q][j])
			}
			rows[p][q], rows[q][p] = 0, 0
		}
	}
	return rotated
}

func turn(cos, sin, x, y float64) (float64, float64) {
	return float64(cos*x) - float64(sin*y), float64(sin*x) + float64(cos*y)
}
