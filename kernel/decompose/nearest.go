package decompose

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// MaxDim is the maximum number of rows of a matrix to repair. The work grows with their cube, and
// takes seconds there.
const MaxDim = 400

// Repair is a positive semidefinite matrix near to one that may not be.
type Repair struct {
	Matrix   *mat.SymDense
	Norm     float64 // Frobenius norm of the original matrix
	Moved    float64 // Frobenius norm of the difference
	Negative int     // number of its eigenvalues below zero
	Least    float64 // its least eigenvalue
}

// Semidefinite returns the positive semidefinite matrix nearest to a in the Frobenius norm: a with
// its negative eigenvalues replaced by zero (Higham 1988).
func Semidefinite(ctx context.Context, a mat.Symmetric) (Repair, error) {
	if n := a.SymmetricDim(); n > MaxDim {
		return Repair{}, fmt.Errorf("repairing a matrix: %d rows: at most %d are possible", n, MaxDim)
	}
	e, err := Symmetric(ctx, a)
	if err != nil {
		return Repair{}, err
	}
	r := Repair{Matrix: clip(a, e), Norm: distance(a, nil)}
	for i, v := range e.Values {
		if v < -e.rounding() {
			r.Negative++
		}
		if i == 0 || v < r.Least {
			r.Least = v
		}
	}
	r.Moved = distance(a, r.Matrix)
	return r, nil
}

// rounding bounds the computed value of an eigenvalue that is zero.
func (e Eigen) rounding() float64 {
	n := len(e.Values)
	return 1e-15 * float64(n) * math.Max(math.Abs(e.Values[0]), math.Abs(e.Values[n-1]))
}

// clip is a without its negative eigenvalues. They are subtracted, not the others summed, so that a
// matrix without any is unchanged.
func clip(a mat.Symmetric, e Eigen) *mat.SymDense {
	n := a.SymmetricDim()
	out := mat.NewSymDense(n, nil)
	out.CopySym(a)
	for l, v := range e.Values {
		if v >= -e.rounding() {
			continue
		}
		x := e.Vectors[l]
		for i := range n {
			for j := i; j < n; j++ {
				out.SetSym(i, j, out.At(i, j)-float64(v*float64(x[i]*x[j])))
			}
		}
	}
	return out
}

// distance is |a − b| in the Frobenius norm; a nil b is zero.
func distance(a mat.Symmetric, b *mat.SymDense) float64 {
	var sum float64
	for i := range a.SymmetricDim() {
		for j := range a.SymmetricDim() {
			d := a.At(i, j)
			if b != nil {
				d -= b.At(i, j)
			}
			sum += float64(d * d)
		}
	}
	return math.Sqrt(sum)
}

// Limits on the iterations of Correlation.
const (
	maxProjections = 100
	converged      = 1e-8 // distance of the two projections, per row
)

// Correlation returns the matrix nearest to a that is positive semidefinite and has ones on its
// diagonal. It projects on the two properties in turn with Dykstra's correction (Higham 2002). The
// last step scales the diagonal to one exactly, so that both hold even if the search ends early.
// Entries on the diagonal of a are ignored.
func Correlation(ctx context.Context, a mat.Symmetric) (Repair, error) {
	n := a.SymmetricDim()
	unit := mat.NewSymDense(n, nil)
	unit.CopySym(a)
	ones(unit)
	first, err := Semidefinite(ctx, unit)
	if err != nil || first.Negative == 0 {
		return first, err
	}
	x, y := first.Matrix, mat.NewSymDense(n, nil)
	correction := minus(x, unit)
	for range maxProjections {
		y.CopySym(x)
		ones(y)
		if distance(x, y) < converged*float64(n) {
			break
		}
		shifted := minus(y, correction)
		e, err := Symmetric(ctx, shifted)
		if err != nil {
			return Repair{}, err
		}
		x = clip(shifted, e)
		correction = minus(x, shifted)
	}
	first.Matrix = scaled(x)
	first.Moved = distance(unit, first.Matrix)
	return first, nil
}

func minus(a, b *mat.SymDense) *mat.SymDense {
	n := a.SymmetricDim()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, a.At(i, j)-b.At(i, j))
		}
	}
	return out
}

func ones(a *mat.SymDense) {
	for i := range a.SymmetricDim() {
		a.SetSym(i, i, 1)
	}
}

// scaled divides rows and columns so that the diagonal is 1. The diagonal of a is
// near 1 already.
func scaled(a *mat.SymDense) *mat.SymDense {
	n := a.SymmetricDim()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i + 1; j < n; j++ {
			if length := math.Sqrt(float64(a.At(i, i) * a.At(j, j))); length > 0 {
				out.SetSym(i, j, a.At(i, j)/length)
			}
		}
	}
	ones(out)
	return out
}
