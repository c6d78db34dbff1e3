package linear

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Ridge minimises Σ(target - w·x - b)² + Penalty·|w|² over the points, with targets 1 for
// the class and -1 for the others (unbiased ones where labels were randomised). The bias b
// is not penalised.
//
// It is solved in closed form, by a Cholesky decomposition of the d × d normal equations of
// centred points, or of the n × n ones of the dual where n < d.
type Ridge struct {
	Penalty float64 // default 1
}

// mostEquations bounds the matrix that is decomposed, to 512 MB.
const mostEquations = 8192

func (r Ridge) withDefaults() Ridge {
	if r.Penalty == 0 {
		r.Penalty = 1
	}
	return r
}

func (r Ridge) check() error {
	if !(r.Penalty >= 0) || math.IsInf(r.Penalty, 0) {
		return fmt.Errorf("ridge: penalty %g is not above 0", r.Penalty)
	}
	return nil
}

func (r Ridge) train(ctx context.Context, t task) (Scorer, error) {
	r = r.withDefaults()
	n := len(t.rows)
	_, d := t.Points.Dims()
	if min(n, d) > mostEquations {
		return Scorer{}, unfit("%d records of %d features are more than ridge takes: one of the two may be %d at most", n, d, mostEquations)
	}
	mean, middle := make([]float64, d), 0.0
	for i := range n {
		add(mean, 1/float64(n), t.point(i))
		middle += t.target(i) / float64(n)
	}
	solve := r.primal
	if n < d {
		solve = r.dual
	}
	w, err := solve(ctx, t, mean, middle)
	if err != nil {
		return Scorer{}, err
	}
	return Scorer{Planes: []Plane{{Weights: w, Bias: middle - dot(w, mean)}}}, nil
}

// blockRows is how many centred points are multiplied at once.
const blockRows = 256

// blocks hands on the centred points, some rows at a time, and the centred targets.
func (t task) blocks(ctx context.Context, mean []float64, middle float64, take func(from int, x blas64.General, y []float64)) error {
	d := len(mean)
	data, targets := make([]float64, min(blockRows, len(t.rows))*d), make([]float64, blockRows)
	for from := 0; from < len(t.rows); from += blockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := min(blockRows, len(t.rows)-from)
		for i := range rows {
			row := data[i*d : (i+1)*d]
			copy(row, t.point(from+i))
			add(row, -1, mean)
			targets[i] = t.target(from+i) - middle
		}
		take(from, blas64.General{Rows: rows, Cols: d, Stride: d, Data: data[:rows*d]}, targets[:rows])
	}
	return nil
}

// primal solves (X'X + λI)w = X'y.
func (r Ridge) primal(ctx context.Context, t task, mean []float64, middle float64) ([]float64, error) {
	d := len(mean)
	normal, right := mat.NewSymDense(d, nil), make([]float64, d)
	err := t.blocks(ctx, mean, middle, func(_ int, x blas64.General, y []float64) {
		blas64.Syrk(blas.Trans, 1, x, 1, normal.RawSymmetric())
		blas64.Gemv(blas.Trans, 1, x, vector(y), 1, vector(right))
	})
	if err != nil {
		return nil, err
	}
	return r.decompose(normal, right)
}

// dual solves (XX' + λI)a = y and returns X'a.
func (r Ridge) dual(ctx context.Context, t task, mean []float64, middle float64) ([]float64, error) {
	n, d := len(t.rows), len(mean)
	x, y := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}, make([]float64, n)
	err := t.blocks(ctx, mean, middle, func(from int, block blas64.General, targets []float64) {
		copy(x.Data[from*d:], block.Data)
		copy(y[from:], targets)
	})
	if err != nil {
		return nil, err
	}
	normal := mat.NewSymDense(n, nil)
	blas64.Syrk(blas.NoTrans, 1, x, 0, normal.RawSymmetric())
	a, err := r.decompose(normal, y)
	if err != nil {
		return nil, err
	}
	w := make([]float64, d)
	blas64.Gemv(blas.Trans, 1, x, vector(a), 0, vector(w))
	return w, nil
}

// decompose solves (m + λI)x = right.
func (r Ridge) decompose(m *mat.SymDense, right []float64) ([]float64, error) {
	n := m.SymmetricDim()
	for i := range n {
		m.SetSym(i, i, m.At(i, i)+r.Penalty)
	}
	var c mat.Cholesky
	if !c.Factorize(m) {
		return nil, errors.New("ridge: the normal equations are singular to rounding (a larger penalty helps)")
	}
	var x mat.VecDense
	if err := c.SolveVecTo(&x, mat.NewVecDense(n, right)); err != nil {
		var ill mat.Condition
		if !errors.As(err, &ill) {
			return nil, fmt.Errorf("ridge: %w", err)
		}
	}
	return x.RawVector().Data, nil
}
