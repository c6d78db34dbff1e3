package decompose

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Principal returns the q largest eigenvalues of a symmetric n × n matrix, largest first,
// and as the columns of an n × q matrix their orthonormal eigenvectors, each with the sign
// that makes its largest entry positive. It refuses more than MaxDim rows, a q outside 1 to
// n, and entries that are not finite.
func Principal(ctx context.Context, a mat.Symmetric, q int) (values []float64, vectors *mat.Dense, err error) {
	n := a.SymmetricDim()
	if n > MaxDim || q < 1 || q > n {
		return nil, nil, fmt.Errorf("%d eigenvectors of a matrix of %d rows: want 1 to n, of at most %d", q, n, MaxDim)
	}
	e, err := symmetric(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(e.values[j], e.values[i]) })
	vectors = mat.NewDense(n, q, nil)
	for c, i := range order[:q] {
		values = append(values, e.values[i])
		sign, largest := 1.0, 0.0
		for _, v := range e.vectors[i] {
			if math.Abs(v) > largest {
				largest, sign = math.Abs(v), math.Copysign(1, v)
			}
		}
		for j, v := range e.vectors[i] {
			vectors.Set(j, c, sign*v)
		}
	}
	return values, vectors, nil
}
