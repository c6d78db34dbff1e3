package forecast

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/estimate"
)

// Joint forecasts the errors of answers from all columns together. It assumes n uncorrelated
// columns, whose correlations each have the error Correlation, independently. Correlated columns
// have larger errors, depending on their collinearity.
type Joint struct {
	Correlation Error
	Columns     int     // n
	K           float64 // coordinates of the sketch; infinite without a projection
	Ridge       float64 // relative increase of the columns' variances
	Least       float64 // required: least eigenvalue of the columns' correlations; 1 if they are uncorrelated
}

// edge approximates the root mean square of the largest eigenvalue of a symmetric matrix of
// independent standard normal entries with zeros on the diagonal: 2√n, less the correction of the
// law of Tracy and Widom, with n − 1 for n since the diagonal has no error. It is within 12 % from
// n = 2.
func edge(n int) float64 {
	m := math.Max(1, float64(n-1))
	return math.Max(1, 2*math.Sqrt(m)-1.21*math.Pow(m, -1./6))
}

// Component forecasts what the largest component of the correlations explains beyond its due of
// 1/n, by errors alone and as share of the variance. Components must explain more than that to tell
// anything. A projection to k coordinates adds to it, by the law of Marchenko and Pastur.
func (j Joint) Component() Error {
	if j.Correlation.Undefined != "" {
		return j.Correlation
	}
	s, n := j.Correlation.StandardError, float64(j.Columns)
	excess := s * (edge(j.Columns) + n/math.Sqrt(j.K))
	return Error{StandardError: excess / n, HalfWidth: math.Sqrt2 * j.Correlation.HalfWidth / n, z: 1, Standings: j.Correlation.Standings}
}

// Coefficient forecasts a coefficient of a regression on the columns, in spreads of the target for
// a spread of the column, from the covariance of the two in units of both spreads. The fitted
// coefficients leave a projection fewer degrees of freedom. If noise alone makes columns look
// collinear, no coefficient is identified. A ridge makes coefficients and their errors smaller.
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

// Difference forecasts the difference of the means of two classes in a column, in units of its
// spread. It takes the covariance of the column with a class of the label, in units of both
// spreads, and the share of the records in each class. Classes are summed separately, so their
// errors are independent.
func (j Joint) Difference(covariance Error, share float64) Error {
	if e := j.identified(); e.Undefined != "" {
		return e
	}
	return covariance.times(math.Sqrt2 * math.Sqrt(share*(1-share)) / share).standing(j.Correlation.Standings)
}

// identified returns an undefined error if no set of so many columns would be identified.
func (j Joint) identified() Error {
	if j.Correlation.Undefined != "" {
		return j.Correlation
	}
	s := j.Correlation.StandardError
	if j.Columns > 1 && j.Least+j.Ridge-s*edge(j.Columns) < estimate.MinConditionZ*math.Sqrt2*s {
		return Error{Undefined: "noise would make the columns look collinear, so no coefficient could be estimated"}
	}
	return Error{}
}

// times returns the error in other units.
func (e Error) times(t float64) Error {
	e.StandardError *= t
	e.unclamped *= t
	e.HalfWidth *= t
	return e
}
