package attack

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// View is what an attacker who knows R has: sketches of the records side in real units, with R's
// scale applied.
type View struct {
	R        *mat.Dense // d × k
	Y        *mat.Dense // m × k, one row per record
	Variance float64    // of the noise on each coordinate of Y
}

func (s View) check() error {
	if s.R == nil || s.Y == nil || s.R.IsEmpty() || s.Y.IsEmpty() {
		return errors.New("attacking sketches: R or the sketches are empty")
	}
	if _, k := s.R.Dims(); k != s.Y.RawMatrix().Cols {
		return fmt.Errorf("attacking sketches: R has %d columns, the sketches %d", k, s.Y.RawMatrix().Cols)
	}
	if !(s.Variance >= 0) {
		return fmt.Errorf("attacking sketches: noise of variance %g", s.Variance)
	}
	return nil
}

// MinimumNorm returns the records, m × d, of least norm among all that have these sketches. For d
// independent columns it misses the share 1 − k/d of their squared norm. (Liu and others print Rᵀu,
// which misses (d+1)/k and so does not measure what can be recovered.)
func (s View) MinimumNorm() (*mat.Dense, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var solved mat.Dense // Rᵀ·xᵀ = yᵀ
	if err := solved.Solve(s.R.T(), s.Y.T()); err != nil && !conditioned(err) {
		return nil, fmt.Errorf("recovering records of least norm: %w", err)
	}
	if s.singular() {
		// Use the pseudoinverse, which takes longer.
		var svd mat.SVD
		if !svd.Factorize(s.R.T(), mat.SVDThin) {
			return nil, errors.New("recovering records of least norm: the singular values of R were not found")
		}
		solved.Reset()
		svd.SolveTo(&solved, s.Y.T(), svd.Rank(independent))
	}
	return mat.DenseCopyOf(solved.T()), nil
}

// independent is the part of the largest singular value below which a singular value counts as
// zero.
const independent = 1e-10

// singular reports whether R has less than full rank. For example, two columns share a row, or no
// column reaches a coordinate.
func (s View) singular() bool {
	var tall mat.Matrix = s.R
	if d, k := s.R.Dims(); d < k {
		tall = s.R.T()
	}
	var qr mat.QR
	qr.Factorize(tall)
	return !(qr.Cond() < 1/independent)
}

// conditioned reports whether an error only warns that the numbers are inexact.
func conditioned(err error) bool {
	var c mat.Condition
	return errors.As(err, &c)
}

// Knowledge is what an attacker knows of the data from elsewhere.
type Knowledge struct {
	Mean       []float64     // of each of the d columns
	Covariance mat.Symmetric // d × d
}

// Ridge returns the linear estimate, m × d, of least mean squared error, given the data's mean and
// covariance: μ + CR(RᵀCR + vI)⁻¹(y − μR).
func (s View) Ridge(known Knowledge) (*mat.Dense, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	d, k := s.R.Dims()
	if len(known.Mean) != d || known.Covariance == nil || known.Covariance.SymmetricDim() != d {
		return nil, fmt.Errorf("recovering records by their covariance: knowledge is not about %d columns", d)
	}
	mean := mat.NewDense(1, d, known.Mean)
	var cr, inner, at mat.Dense
	cr.Mul(known.Covariance, s.R)
	inner.Mul(s.R.T(), &cr)
	at.Mul(mean, s.R)
	var trace float64
	for i := range k {
		trace += inner.At(i, i)
	}
	for i := range k {
		// Adding 1e-12 of the mean diagonal keeps a covariance of low rank solvable.
		inner.Set(i, i, inner.At(i, i)+s.Variance+1e-12*trace/float64(k))
	}
	m, _ := s.Y.Dims()
	centred := mat.DenseCopyOf(s.Y)
	for i := range m {
		for j := range k {
			centred.Set(i, j, centred.At(i, j)-at.At(0, j))
		}
	}
	var weights, out mat.Dense // weights: k × d, the transpose of CR(RᵀCR + vI)⁻¹
	if err := weights.Solve(&inner, cr.T()); err != nil && !conditioned(err) {
		return nil, fmt.Errorf("recovering records by their covariance: %w", err)
	}
	out.Mul(centred, &weights)
	for i := range m {
		for j := range d {
			out.Set(i, j, out.At(i, j)+known.Mean[j])
		}
	}
	return &out, nil
}
