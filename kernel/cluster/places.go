package cluster

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Gaussian is the knowledge of records with which cells are placed: their mean and covariance, in
// encoded units around the public centre.
type Gaussian struct {
	Mean       []float64     // required, d
	Covariance mat.Symmetric // required, d × d, positive semidefinite
}

// Limits of Places. An edge beyond this many standard deviations from the mean is placed at this
// distance. The covariance of signs gets this much added to its diagonal, so that directions along
// which records hardly differ do not make it singular.
const (
	farthestEdge = 4
	signRidge    = 1e-3
)

// Places returns where the cells of a partition are, as far as known without looking into them: a
// row of d coordinates for each of 2^L cells. Directions is d × L; bit l of a cell's number is 1 if
// the product of a record and direction l is negative.
//
// With s the signs of a record's products, ±1, the place of a cell is the best linear prediction of
// a record from its signs,
//
//	mean + Cov(x, s) Cov(s)⁻¹ (s − E s)
//
// For normal records, with a_l = h_l'mean/σ_l, σ_l² = h_l'Vh_l and ρ the correlation of two
// products, E s_l = 2Φ(a_l) − 1 and Cov(x, s_l) = 2φ(a_l)·V h_l/σ_l, and by Plackett (1954)
//
//	Cov(s_l, s_m) = (2/π) ∫₀^asin(ρ) exp(−(a_l² + a_m² − 2 a_l a_m sin t)/(2 cos² t)) dt
//
// which is (2/π) asin ρ around the mean.
func Places(of Gaussian, directions *mat.Dense) (*mat.Dense, error) {
	d, l := directions.Dims()
	switch {
	case len(of.Mean) != d || of.Covariance == nil || of.Covariance.SymmetricDim() != d:
		return nil, fmt.Errorf("placing cells: a mean of %d columns for directions of %d", len(of.Mean), d)
	case l > 30:
		return nil, fmt.Errorf("placing cells: %d directions are too many", l)
	}
	var spread, across mat.Dense // V H, and H'V H
	spread.Mul(of.Covariance, directions)
	across.Mul(directions.T(), &spread)
	sd, edge, expected := make([]float64, l), make([]float64, l), make([]float64, l)
	with := mat.NewDense(d, l, nil) // Cov(x, s)
	for i := range l {
		if sd[i] = math.Sqrt(math.Max(across.At(i, i), 0)); !(sd[i] > 0) {
			continue // all records are on one side: the sign tells nothing
		}
		edge[i] = max(-farthestEdge, min(mat.Dot(directions.ColView(i), mat.NewVecDense(d, of.Mean))/sd[i], farthestEdge))
		expected[i] = 2*distuv.UnitNormal.CDF(edge[i]) - 1
		for j := range d {
			with.Set(j, i, 2*distuv.UnitNormal.Prob(edge[i])*spread.At(j, i)/sd[i])
		}
	}
	signs := mat.NewSymDense(l, nil)
	for i := range l {
		signs.SetSym(i, i, 1-expected[i]*expected[i]+signRidge)
		for j := range i {
			if sd[i] > 0 && sd[j] > 0 {
				signs.SetSym(i, j, signCovariance(edge[i], edge[j], across.At(i, j)/sd[i]/sd[j]))
			}
		}
	}
	var root mat.Cholesky
	if !root.Factorize(signs) {
		return nil, errors.New("placing cells: the covariance is not positive semidefinite")
	}
	var weights mat.Dense // L × d: Cov(s)⁻¹ Cov(s, x)
	if err := root.SolveTo(&weights, with.T()); err != nil {
		return nil, fmt.Errorf("placing cells: %w", err)
	}
	out := mat.NewDense(1<<l, d, nil)
	for cell := range 1 << l {
		row := out.RawRowView(cell)
		copy(row, of.Mean)
		for i := range l {
			s := 1 - float64(cell>>i&1)*2 - expected[i]
			for j := range row {
				row[j] += s * weights.At(i, j)
			}
		}
	}
	return out, nil
}

// signCovariance returns the covariance of the signs of a + x and b + y, x and y being standard
// normal with a correlation.
func signCovariance(a, b, correlation float64) float64 {
	to := math.Asin(max(-1, min(correlation, 1)))
	if to == 0 {
		return 0
	}
	return 2 / math.Pi * quad.Fixed(func(t float64) float64 {
		sin, cos := math.Sincos(t)
		return math.Exp(-(a*a + b*b - 2*a*b*sin) / (2 * cos * cos))
	}, min(0, to), max(0, to), 20, quad.Legendre{}, 0) * math.Copysign(1, to)
}
