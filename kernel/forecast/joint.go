package forecast

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/estimate"
)

// Joint is what an answer from all columns together errs by, where each correlation of n
// unrelated columns errs by Correlation, independently. Columns that hang together err
// more, by what collinearity there is.
type Joint struct {
	Correlation Error
	Columns     int     // n
	K           float64 // coordinates of the sketch; infinite without a projection
	Ridge       float64 // part by which the columns' variances are raised
	Least       float64 // required: least eigenvalue of the columns' correlations; 1 where they are unrelated
}

// edge is about the root mean square of the greatest eigenvalue of a symmetric matrix of
// independent standard normal entries with zeros on the diagonal: 2√n, less what the law
// of Tracy and Widom takes off, with n − 1 for n since the diagonal does not err; within
// 12 % from n = 2.
func edge(n int) float64 {
	m := math.Max(1, float64(n-1))
	return math.Max(1, 2*math.Sqrt(m)-1.21*math.Pow(m, -1./6))
}

// Component forecasts what the greatest component of the correlations explains beyond its
// due of 1/n, by errors alone and as share of the variance: components have to explain
// more than that to tell anything. A projection to k coordinates adds to it, as the law of
// Marchenko and Pastur has it.
func (j Joint) Component() Error {
	if j.Correlation.Undefined != "" {
		return j.Correlation
	}
	s, n := j.Correlation.Deviation, float64(j.Columns)
	excess := s * (edge(j.Columns) + n/math.Sqrt(j.K))
	return Error{Deviation: excess / n, HalfWidth: math.Sqrt2 * j.Correlation.HalfWidth / n, z: 1, Standings: j.Correlation.Standings}
}

// Coefficient forecasts a coefficient of a regression on the columns, in spreads of the
// target for a spread of the column, from the covariance of the two in units of both
// spreads. The coefficients that are fitted leave a projection fewer degrees of freedom,
// and where noise alone makes columns look collinear no coefficient is identified. A ridge
// makes coefficients smaller, and their errors.
func (j Joint) Coefficient(covariance Error) Error {
	if e := j.identified(); e.Undefined != "" {
		return e
	}
	freedom := 1.0
	if !math.IsInf(j.K, 1) {
		left := j.K - float64(j.Columns+1)
		if left < 1 {
			return Error{Undefined: fmt.Sprintf("k = %g is too small for %d coefficients and an intercept", j.K, j.Columns)}
		}
		freedom = math.Sqrt(j.K / left)
	}
	return covariance.times(freedom / (1 + j.Ridge)).standing(j.Correlation.Standings)
}

// Difference forecasts how far the means of two classes are apart in a column, in units of
// its spread, from the covariance of the column with a class of the label, in units of both
// spreads, where each class has a share of the records. Classes are summed by themselves, so that
// their errors are independent.
func (j Joint) Difference(covariance Error, share float64) Error {
	if e := j.identified(); e.Undefined != "" {
		return e
	}
	return covariance.times(math.Sqrt2 * math.Sqrt(share*(1-share)) / share).standing(j.Correlation.Standings)
}

// identified says where no set of so many columns would be.
func (j Joint) identified() Error {
	if j.Correlation.Undefined != "" {
		return j.Correlation
	}
	s := j.Correlation.Deviation
	if j.Columns > 1 && j.Least+j.Ridge-s*edge(j.Columns) < estimate.Identified*math.Sqrt2*s {
		return Error{Undefined: "noise would make the columns look collinear, and nothing would be identified"}
	}
	return Error{}
}

// times is the error in other units.
func (e Error) times(t float64) Error {
	e.Deviation *= t
	e.plain *= t
	e.HalfWidth *= t
	return e
}
