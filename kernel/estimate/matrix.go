package estimate

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/decompose"
)

// symmetric decomposes a matrix of some variables of a regression. It is too fast to need
// cancelling.
func symmetric(a mat.Symmetric) (decompose.Eigen, error) {
	return decompose.Symmetric(context.Background(), a)
}

// inverse is the inverse of a positive definite matrix, by its eigenvalues.
func inverse(a mat.Symmetric) (*mat.Dense, error) {
	e, err := symmetric(a)
	if err != nil {
		return nil, err
	}
	n := a.SymmetricDim()
	out := mat.NewDense(n, n, nil)
	for l, v := range e.Vectors {
		for i, x := range v {
			for j, y := range v {
				out.Set(i, j, out.At(i, j)+float64(float64(x*y)/e.Values[l]))
			}
		}
	}
	return out, nil
}

// multiply is the product of two square matrices. It sums in index order.
func multiply(a, b *mat.Dense) *mat.Dense {
	n, _ := a.Dims()
	out := mat.NewDense(n, n, nil)
	for i := range n {
		row := out.RawRowView(i)
		for l, x := range a.RawRowView(i) {
			for j, y := range b.RawRowView(l) {
				row[j] += float64(x * y)
			}
		}
	}
	return out
}
