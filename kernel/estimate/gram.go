package estimate

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/gram"
)

// Noise describes the noise on one coordinate of a sketch, in the sketch's units.
type Noise struct {
	Variance       float64 // v; 0 for none
	FourthCumulant float64 // κ: 0 for Gaussian noise, 12 b⁴ for Laplace noise of scale b, at least -2v²

	// Sources is the number of values that were noised before the projection, which spread their
	// noise over the coordinates. It is 0 if noise was added after it. See the package comment.
	Sources float64
}

// together is the factor by which noise on k coordinates has more error if it was in the values
// before a projection: errors of coordinates are then correlated.
func (n Noise) together(k int) float64 {
	if n.Sources == 0 {
		return 1
	}
	return 1 + float64(k)/n.Sources
}

func (n Noise) check() error {
	if !(n.Variance >= 0) || math.IsInf(n.Variance, 0) {
		return fmt.Errorf("noise variance %g: must be finite and at least 0", n.Variance)
	}
	// Noise that a projection spreads over more coordinates than it has sources leaves some of them
	// without any. The average over coordinates is then not of one distribution, so the bound does
	// not apply; it applies to the sources.
	least := -2 * n.Variance * n.Variance * (1 + 1e-9)
	if n.Sources > 0 {
		least = math.Inf(-1)
	}
	if !(n.FourthCumulant >= least) || math.IsInf(n.FourthCumulant, 0) {
		return fmt.Errorf("fourth cumulant %g is impossible for noise of variance %g: it must be finite and at least -2 times the variance squared", n.FourthCumulant, n.Variance)
	}
	if !(n.Sources >= 0) || math.IsInf(n.Sources, 0) {
		return fmt.Errorf("noise of %g values: must be finite and at least 0", n.Sources)
	}
	return nil
}

// Gram holds the inner products of n sketched columns, of all parties together.
// It is immutable. Methods panic on a column index outside [0, n), as package mat
// does.
type Gram struct {
	k        int
	noise    []Noise
	raw      entries // H
	debiased entries // G = H − k·v on the diagonal
	ends     quantileCache
}

// entries is a symmetric matrix of all columns of a Gram, or of some of them alone.
type entries struct {
	*mat.SymDense
	place []int32 // by column: its index in the matrix, -1 if not in it; nil: all columns, in order
}

// At is the entry of two columns. It panics if the matrix lacks one of them.
func (e entries) At(i, j int) float64 {
	if e.place != nil {
		i, j = int(e.place[i]), int(e.place[j])
	}
	return e.SymDense.At(i, j)
}

// Integers is a k × n columns sketch as released.
type Integers struct {
	K, N int
	Data []int64 // K × N, row-major
	Unit float64 // required: the value of 1 in the sketch's units; above 0
}

// FromIntegers is the Gram matrix of the n columns of a sketch. All columns come from the same R.
// The noise of any two columns, of one party or of two, is independent, so only the diagonal has a
// bias to subtract. The products are exact before they are converted to the sketch's units (package
// gram), so the result is the same on every machine. It uses all processors.
func FromIntegers(ctx context.Context, s Integers, noise []Noise) (*Gram, error) {
	if len(noise) != s.N {
		return nil, fmt.Errorf("computing the gram matrix: %d columns, but the noise of %d", s.N, len(noise))
	}
	return fromIntegers(ctx, s, nil, noise)
}

// FromColumns is the Gram matrix of some columns of a sketch, each given once. The other columns'
// products take neither time nor memory. Methods panic on the index of another column. For its
// columns it gives the same results as the Gram of all columns.
func FromColumns(ctx context.Context, s Integers, noise []Noise, columns []int) (*Gram, error) {
	if len(noise) != s.N || len(s.Data) != s.K*s.N {
		return nil, fmt.Errorf("computing the gram matrix: %d columns, but the noise of %d, or %d entries that are not %d × %d", s.N, len(noise), len(s.Data), s.K, s.N)
	}
	some, place := make([]Noise, len(columns)), make([]int32, s.N)
	for i := range place {
		place[i] = -1
	}
	for at, column := range columns {
		if place[column] >= 0 {
			return nil, fmt.Errorf("computing the gram matrix: column %d is given twice", column)
		}
		some[at], place[column] = noise[column], int32(at)
	}
	g, err := fromIntegers(ctx, s, columns, some)
	if err != nil {
		return nil, err
	}
	g.noise, g.raw.place, g.debiased.place = noise, place, place
	return g, nil
}

// fromIntegers is the Gram of some columns, or of all if columns is nil.
func fromIntegers(ctx context.Context, s Integers, columns []int, noise []Noise) (_ *Gram, err error) {
	if !(s.Unit > 0) || math.IsInf(s.Unit, 0) {
		return nil, fmt.Errorf("computing the gram matrix: unit %g: must be finite and above 0", s.Unit)
	}
	var products *mat.SymDense
	if columns == nil {
		products, err = gram.Of(ctx, s.Data, s.K, s.N)
	} else {
		products, err = gram.OfColumns(ctx, s.Data, s.K, s.N, columns)
	}
	if err != nil {
		return nil, err
	}
	products.ScaleSym(s.Unit*s.Unit, products)
	return assemble(s.K, products, noise)
}

// assemble makes a Gram of the raw products, which it keeps, and subtracts the noise from the
// diagonal.
func assemble(k int, raw *mat.SymDense, noise []Noise) (*Gram, error) {
	n := raw.SymmetricDim()
	g := &Gram{k: k, noise: append([]Noise(nil), noise...), raw: entries{SymDense: raw}, debiased: entries{SymDense: mat.NewSymDense(n, nil)}}
	g.debiased.CopySym(raw)
	for i := range n {
		if err := noise[i].check(); err != nil {
			return nil, fmt.Errorf("computing the gram matrix: column %d: %w", i, err)
		}
		for j := range i + 1 {
			if h := raw.At(j, i); math.IsNaN(h) || math.IsInf(h, 0) {
				return nil, fmt.Errorf("computing the gram matrix: the product of columns %d and %d is not finite", j, i)
			}
		}
		g.debiased.SetSym(i, i, raw.At(i, i)-float64(float64(k)*noise[i].Variance))
	}
	return g, nil
}

// dot sums in index order; the conversion keeps the compiler from fusing operations.
func dot(x, y []float64) float64 {
	var sum float64
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}
