package forecast

import (
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
)

// Sums is two uncorrelated columns in summed moments: their expected means and second moments, with
// the noise of all parties.
type Sums struct {
	X, Y    Column               // required: of encoded values around the public centre
	Keep    Contribution         // of a record; Whole if nothing is clipped
	Records float64              // required: of all parties, at least 1
	Noise   estimate.MomentNoise // on their sums
	Level   estimate.Level       // of the interval; 0 means 95 %
}

// moments returns the average moments of sketches, so that the estimates' standard errors are those
// that real sketches will show.
func (s Sums) moments() (*estimate.Summed, error) {
	n := s.Records
	second := mat.NewSymDense(2, nil)
	columns := []Column{s.X, s.Y}
	of := estimate.SummedOf{Records: int64(n), Second: second, Noise: s.Noise}
	for i, c := range columns {
		of.Sums = append(of.Sums, n*s.Keep.Mean*c.Mean)
		second.SetSym(i, i, n*s.Keep.Square*(c.Mean*c.Mean+c.Spread*c.Spread))
	}
	second.SetSym(0, 1, n*s.Keep.Square*s.X.Mean*s.Y.Mean)
	return estimate.NewSummed(of)
}

// Mean forecasts the mean of X, in units of its spread.
func (s Sums) Mean() (Error, error) {
	m, err := s.moments()
	if err != nil {
		return Error{}, err
	}
	return in(s.X.Spread, m.Mean(0, s.Level), s.Level), nil
}

// Covariance forecasts the covariance, in units of the product of both spreads.
func (s Sums) Covariance() (Error, error) {
	m, err := s.moments()
	if err != nil {
		return Error{}, err
	}
	return in(s.X.Spread*s.Y.Spread, m.Covariance(0, 1, s.Level), s.Level), nil
}

// Variance forecasts the variance of X, in units of itself.
func (s Sums) Variance() (Error, error) {
	m, err := s.moments()
	if err != nil {
		return Error{}, err
	}
	return in(s.X.Spread*s.X.Spread, m.Covariance(0, 0, s.Level), s.Level), nil
}

// Correlation forecasts the correlation.
func (s Sums) Correlation() (Error, error) {
	m, err := s.moments()
	if err != nil {
		return Error{}, err
	}
	return in(1, m.Correlation(0, 1, s.Level), s.Level).standing([]estimate.Standing{m.Standing(0), m.Standing(1)}), nil
}
