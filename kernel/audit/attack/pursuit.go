package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Sparse is the knowledge that few values of a record are non-zero.
type Sparse struct {
	Most    int  // maximum number of non-zero values of a record
	Boolean bool // all non-zero values are 1
}

// Pursuit returns records, m × d, with few non-zero values, by orthogonal matching pursuit (Pati,
// Rezaiifar and Krishnaprasad 1993). It repeatedly adds the column that best fits the rest of the
// sketch, until Most columns are taken or only noise is left.
func (s View) Pursuit(ctx context.Context, known Sparse) (*mat.Dense, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	d, k := s.R.Dims()
	if known.Most < 1 || known.Most > min(d, k) {
		return nil, fmt.Errorf("recovering sparse records: %d values are not between 1 and %d", known.Most, min(d, k))
	}
	m, _ := s.Y.Dims()
	out := mat.NewDense(m, d, nil)
	lengths := make([]float64, d)
	for j := range d {
		lengths[j] = mat.Norm(s.R.RowView(j), 2)
	}
	for i := range m {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.pursue(s.Y.RawRowView(i), lengths, known, out.RawRowView(i)); err != nil {
			return nil, fmt.Errorf("recovering sparse record %d: %w", i+1, err)
		}
	}
	return out, nil
}

// pursue recovers one record into x.
func (s View) pursue(y, lengths []float64, known Sparse, x []float64) error {
	d, k := s.R.Dims()
	left := slices.Clone(y)
	enough := math.Max(float64(k)*s.Variance, 1e-18*dot(y, y))
	var taken []int
	var weights []float64
	for len(taken) < known.Most && dot(left, left) > enough {
		best, most := -1, 0.0
		for j := range d {
			if lengths[j] == 0 || slices.Contains(taken, j) {
				continue
			}
			if fit := math.Abs(dot(s.R.RawRowView(j), left)) / lengths[j]; fit > most {
				best, most = j, fit
			}
		}
		if best < 0 {
			break
		}
		taken = append(taken, best)
		atoms := mat.NewDense(k, len(taken), nil)
		for c, j := range taken {
			atoms.SetCol(c, s.R.RawRowView(j))
		}
		var solved, fitted mat.VecDense
		if err := solved.SolveVec(atoms, mat.NewVecDense(k, slices.Clone(y))); err != nil && !conditioned(err) {
			return err
		}
		weights = solved.RawVector().Data
		fitted.MulVec(atoms, &solved)
		for c := range left {
			left[c] = y[c] - fitted.AtVec(c)
		}
	}
	for c, j := range taken {
		x[j] = weights[c]
		if known.Boolean {
			x[j] = math.Round(math.Min(math.Max(x[j], 0), 1))
		}
	}
	return nil
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
