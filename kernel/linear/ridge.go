package linear

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Ridge minimises Σ(target - w·x - b)² + Penalty·|w|² over the points, with targets 1 for the class
// and -1 for the others (unbiased ones if labels were randomised). The bias b is not penalised.
//
// It is solved in closed form, in place, by a Cholesky decomposition of the d × d normal equations
// of centred points, or of the n × n ones of the dual if n < d.
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
		return fmt.Errorf("ridge: penalty %g: must be finite and at least 0 (0: default)", r.Penalty)
	}
	return nil
}

func (r Ridge) train(ctx context.Context, tasks []task, done func()) ([]Scorer, error) {
	r = r.withDefaults()
	n := len(tasks[0].rows)
	_, d := tasks[0].Points.Dims()
	if min(n, d) > mostEquations {
		return nil, dataErrorf("%d records of %d features are too many for ridge: one of the two must be at most %d", n, d, mostEquations)
	}
	c := centre(tasks)
	solve := r.primal
	if n < d {
		solve = r.dual
	}
	weights, err := solve(ctx, c)
	if err != nil {
		return nil, err
	}
	var out []Scorer
	for class := range tasks {
		w := mat.Col(nil, class, weights)
		out = append(out, Scorer{Planes: []Plane{{Weights: w, Bias: c.middle[class] - dot(w, c.mean)}}})
		done()
	}
	return out, nil
}

// centred holds the points and targets of tasks on the same rows, and the means to subtract.
type centred struct {
	tasks  []task
	mean   []float64 // of the points
	middle []float64 // of each task's targets
}

func centre(tasks []task) centred {
	n := len(tasks[0].rows)
	_, d := tasks[0].Points.Dims()
	c := centred{tasks: tasks, mean: make([]float64, d), middle: make([]float64, len(tasks))}
	for i := range n {
		add(c.mean, 1/float64(n), tasks[0].point(i))
		for class, t := range tasks {
			c.middle[class] += t.target(i) / float64(n)
		}
	}
	return c
}

// blockRows is how many centred points are multiplied at a time.
const blockRows = 256

// blocks calls take with centred blocks of rows: their points, and their targets with one column
// per task.
func (c centred) blocks(ctx context.Context, take func(from int, x, y blas64.General)) error {
	n, d, k := len(c.tasks[0].rows), len(c.mean), len(c.tasks)
	points, targets := make([]float64, min(blockRows, n)*d), make([]float64, min(blockRows, n)*k)
	for from := 0; from < n; from += blockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := min(blockRows, n-from)
		for i := range rows {
			row := points[i*d : (i+1)*d]
			copy(row, c.tasks[0].point(from+i))
			add(row, -1, c.mean)
			for class, t := range c.tasks {
				targets[i*k+class] = t.target(from+i) - c.middle[class]
			}
		}
		take(from, blas64.General{Rows: rows, Cols: d, Stride: d, Data: points[:rows*d]}, blas64.General{Rows: rows, Cols: k, Stride: k, Data: targets[:rows*k]})
	}
	return nil
}

// primal solves (X'X + λI)W = X'Y.
func (r Ridge) primal(ctx context.Context, c centred) (*mat.Dense, error) {
	d := len(c.mean)
	right := mat.NewDense(d, len(c.tasks), nil)
	normal, err := c.tasks[0].symmetric(d)
	if err != nil {
		return nil, err
	}
	err = c.blocks(ctx, func(_ int, x, y blas64.General) {
		blas64.Syrk(blas.Trans, 1, x, 1, normal.RawSymmetric())
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, x, y, 1, right.RawMatrix())
	})
	if err != nil {
		return nil, err
	}
	return r.decompose(normal, right)
}

// dual solves (XX' + λI)A = Y and returns X'A.
func (r Ridge) dual(ctx context.Context, c centred) (*mat.Dense, error) {
	n, d := len(c.tasks[0].rows), len(c.mean)
	points, err := reuse(c.tasks[0].Room, &c.tasks[0].shared().second, n*d, n*d)
	if err != nil {
		return nil, err
	}
	x, y := mat.NewDense(n, d, points), mat.NewDense(n, len(c.tasks), nil)
	err = c.blocks(ctx, func(from int, points, targets blas64.General) {
		copy(x.RawMatrix().Data[from*d:], points.Data)
		copy(y.RawMatrix().Data[from*len(c.tasks):], targets.Data)
	})
	if err != nil {
		return nil, err
	}
	normal, err := c.tasks[0].symmetric(n)
	if err != nil {
		return nil, err
	}
	blas64.Syrk(blas.NoTrans, 1, x.RawMatrix(), 0, normal.RawSymmetric())
	a, err := r.decompose(normal, y)
	if err != nil {
		return nil, err
	}
	var w mat.Dense
	w.Mul(x.T(), a)
	return &w, nil
}

// decompose solves (m + λI)X = right. It overwrites both.
func (r Ridge) decompose(m *mat.SymDense, right *mat.Dense) (*mat.Dense, error) {
	for i := range m.SymmetricDim() {
		m.SetSym(i, i, m.At(i, i)+r.Penalty)
	}
	triangle, definite := lapack64.Potrf(m.RawSymmetric())
	if !definite {
		return nil, dataErrorf("the normal equations of ridge are singular to rounding: use a larger penalty")
	}
	lapack64.Potrs(triangle, right.RawMatrix())
	return right, nil
}
