package attack

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Range is the public knowledge about a column: its bounds, and whether its values are whole
// numbers.
type Range struct {
	Low, High float64
	Whole     bool
}

// Box returns the records, m × d, within the columns' bounds whose sketches are nearest. It uses
// accelerated projected gradient descent (Beck and Teboulle 2009) from the middle of the bounds.
// Whole values are rounded at the end.
func (s View) Box(ctx context.Context, ranges []Range) (*mat.Dense, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	d, _ := s.R.Dims()
	if len(ranges) != d {
		return nil, fmt.Errorf("recovering bounded records: %d ranges for %d columns", len(ranges), d)
	}
	var svd mat.SVD
	if !svd.Factorize(s.R, mat.SVDNone) {
		return nil, fmt.Errorf("recovering bounded records: the singular values of R were not found")
	}
	step := 1 / math.Pow(svd.Values(nil)[0], 2)
	m, _ := s.Y.Dims()
	x := mat.NewDense(m, d, nil)
	for i := range m {
		for j, r := range ranges {
			x.Set(i, j, (r.Low+r.High)/2)
		}
	}
	const rounds = 300
	at, speed := mat.DenseCopyOf(x), 1.0
	for range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var off, gradient mat.Dense
		off.Mul(at, s.R)
		off.Sub(&off, s.Y)
		gradient.Mul(&off, s.R.T())
		next := mat.NewDense(m, d, nil)
		faster := (1 + math.Sqrt(1+4*speed*speed)) / 2
		ahead := mat.NewDense(m, d, nil)
		for i := range m {
			for j, r := range ranges {
				v := math.Min(math.Max(at.At(i, j)-step*gradient.At(i, j), r.Low), r.High)
				next.Set(i, j, v)
				ahead.Set(i, j, v+(speed-1)/faster*(v-x.At(i, j)))
			}
		}
		x, at, speed = next, ahead, faster
	}
	for i := range m {
		for j, r := range ranges {
			if r.Whole {
				x.Set(i, j, math.Round(x.At(i, j)))
			}
		}
	}
	return x, nil
}
