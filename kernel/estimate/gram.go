package estimate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Noise describes the noise on one coordinate of a sketch, in the sketch's units.
type Noise struct {
	Variance       float64 // v; 0 for none
	FourthCumulant float64 // κ: 0 for Gaussian noise, 12 b⁴ for Laplace noise of scale b, at least -2v²

	// Sources is how many values were noised before the projection, which then spread
	// their noise over the coordinates; 0 where noise was added after it. See the
	// package comment.
	Sources float64
}

// together is the factor by which noise on k coordinates errs more where it was in the
// values before a projection, which has its coordinates err together.
func (n Noise) together(k int) float64 {
	if n.Sources == 0 {
		return 1
	}
	return 1 + float64(k)/n.Sources
}

func (n Noise) check() error {
	if !(n.Variance >= 0) || math.IsInf(n.Variance, 0) {
		return fmt.Errorf("noise variance %g is not a number of at least 0", n.Variance)
	}
	if !(n.FourthCumulant >= -2*n.Variance*n.Variance*(1+1e-9)) || math.IsInf(n.FourthCumulant, 0) {
		return fmt.Errorf("fourth cumulant %g of noise of variance %g: no distribution has less than -2 times the variance squared", n.FourthCumulant, n.Variance)
	}
	if !(n.Sources >= 0) || math.IsInf(n.Sources, 0) {
		return fmt.Errorf("noise of %g values is not a number of at least 0", n.Sources)
	}
	return nil
}

// Gram holds the inner products of n sketched columns, of all parties together.
// It is immutable. Methods panic on a column index outside [0, n), as package mat
// does.
type Gram struct {
	k        int
	noise    []Noise
	raw      *mat.SymDense // H
	debiased *mat.SymDense // G = H − k·v on the diagonal
}

// New computes the Gram matrix of n sketched columns with k coordinates each.
// All columns come from the same R; the noise of any two columns, of one party or
// of two, is independent, so only the diagonal has a bias to take off.
//
// The columns are read in index order and summed in coordinate order without
// fused operations, so the result is the same on every machine.
func New(columns [][]float64, noise []Noise) (*Gram, error) {
	n := len(columns)
	if n == 0 {
		return nil, fmt.Errorf("computing the gram matrix: no columns")
	}
	if len(noise) != n {
		return nil, fmt.Errorf("computing the gram matrix: %d columns but %d noises", n, len(noise))
	}
	g := &Gram{
		k:        len(columns[0]),
		noise:    append([]Noise(nil), noise...),
		raw:      mat.NewSymDense(n, nil),
		debiased: mat.NewSymDense(n, nil),
	}
	if g.k == 0 {
		return nil, fmt.Errorf("computing the gram matrix: columns have no coordinates")
	}
	for i, column := range columns {
		if len(column) != g.k {
			return nil, fmt.Errorf("computing the gram matrix: column %d has %d coordinates, column 0 has %d", i, len(column), g.k)
		}
		if err := noise[i].check(); err != nil {
			return nil, fmt.Errorf("computing the gram matrix: column %d: %w", i, err)
		}
		for j := range i + 1 {
			h := dot(column, columns[j])
			if math.IsNaN(h) || math.IsInf(h, 0) {
				return nil, fmt.Errorf("computing the gram matrix: the product of columns %d and %d is not finite", j, i)
			}
			g.raw.SetSym(j, i, h)
			g.debiased.SetSym(j, i, h)
		}
		g.debiased.SetSym(i, i, g.raw.At(i, i)-float64(float64(g.k)*noise[i].Variance))
	}
	return g, nil
}

// Raw is the n × n matrix H of inner products of the noised columns. It must not
// be changed.
func (g *Gram) Raw() mat.Symmetric { return g.raw }

// Debiased is the n × n matrix G = H − k·diag(v), unbiased for the inner products
// of the columns themselves (MECHANISMS 2d(ii)). With noise it need not be
// positive semidefinite. It must not be changed.
func (g *Gram) Debiased() mat.Symmetric { return g.debiased }

// dot sums in index order; the conversion keeps the compiler from fusing.
func dot(x, y []float64) float64 {
	var sum float64
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}
