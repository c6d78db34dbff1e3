package attack

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// KnownPairs returns R, d × k, as far as t records and their sketches determine it: the R of least
// norm with x·R = y for all of them. With d independent records and no noise it is R itself.
func KnownPairs(x, y *mat.Dense) (*mat.Dense, error) {
	if x == nil || y == nil || x.IsEmpty() || y.IsEmpty() {
		return nil, errors.New("finding R from known records: there are none")
	}
	if x.RawMatrix().Rows != y.RawMatrix().Rows {
		return nil, fmt.Errorf("finding R from known records: %d records and %d sketches", x.RawMatrix().Rows, y.RawMatrix().Rows)
	}
	// A minimum norm solution, by the pseudoinverse, as the records may be linearly dependent.
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDThin) {
		return nil, errors.New("finding R from known records: their singular values were not found")
	}
	rank := svd.Rank(1e-10)
	if rank == 0 {
		return nil, errors.New("finding R from known records: they are all zero")
	}
	var r mat.Dense
	svd.SolveTo(&r, y, rank)
	return &r, nil
}
