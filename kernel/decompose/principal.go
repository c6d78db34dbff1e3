package decompose

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Principal returns the q largest eigenvalues of a symmetric n × n matrix, largest first. Their
// orthonormal eigenvectors are the columns of an n × q matrix, each with its largest entry by
// absolute value positive. It returns an error for more than MaxDim rows, a q outside 1 to n, or
// entries that are not finite.
func Principal(ctx context.Context, a mat.Symmetric, q int) (values []float64, vectors *mat.Dense, err error) {
	n := a.SymmetricDim()
	if n > MaxDim || q < 1 || q > n {
		return nil, nil, fmt.Errorf("%d eigenvectors of a matrix of %d rows: want 1 to %d, of a matrix of at most %d rows", q, n, n, MaxDim)
	}
	e, err := Symmetric(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	vectors = mat.NewDense(n, q, nil)
	for c, v := range e.Vectors[:q] {
		vectors.SetCol(c, v)
	}
	return e.Values[:q:q], vectors, nil
}
