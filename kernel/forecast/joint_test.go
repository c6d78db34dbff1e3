package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
)

// The largest eigenvalue of errors alone is within 12 % of edge.
func TestGreatestEigenvalueOfErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{2, 3, 5, 10, 40} {
		const draws = 400
		var squares float64
		for range draws {
			m := mat.NewSymDense(n, nil)
			for i := range n {
				for j := range i {
					m.SetSym(i, j, r.NormFloat64())
				}
			}
			var eigen mat.EigenSym
			if !eigen.Factorize(m, false) {
				t.Fatal("no eigenvalues")
			}
			top := eigen.Values(nil)[n-1]
			squares += top * top / draws
		}
		if want := math.Sqrt(squares); !near(edge(n), want, 0.15) { // 12 %, and chance
			t.Errorf("of %d columns: %.3f, want %.3f", n, edge(n), want)
		}
	}
	if edge(1) != 1 {
		t.Errorf("of one column: %v", edge(1))
	}
}

func TestComponentsOfErrors(t *testing.T) {
	j := Joint{Correlation: Error{StandardError: 0.01, HalfWidth: 0.02}, Columns: 10, K: math.Inf(1), Least: 1}
	sums := j.Component()
	if want := 0.01 * edge(10) / 10; !near(sums.StandardError, want, 1e-12) || sums.Detects() != sums.StandardError {
		t.Errorf("without a projection %+v, want %v", sums, want)
	}
	j.K = 100
	if projected := j.Component(); !near(projected.StandardError-sums.StandardError, 0.01/math.Sqrt(100), 1e-9) {
		t.Errorf("with a projection %+v, without %+v", projected, sums)
	}
	j.Correlation = Error{Undefined: "no"}
	for name, e := range map[string]Error{"component": j.Component(), "coefficient": j.Coefficient(Error{}), "difference": j.Difference(Error{}, 0.5)} {
		if e.Undefined != "no" {
			t.Errorf("%s of correlations that are undefined: %+v", name, e)
		}
	}
}

// The errors of coefficients are those of covariances: larger the fewer degrees of freedom a
// projection leaves, smaller with a ridge, and undefined if noise would make columns look
// collinear.
func TestCoefficients(t *testing.T) {
	lost := []estimate.Standing{{Value: 9, Threshold: 3}}
	covariance := Error{StandardError: 0.1, HalfWidth: 0.2}
	j := Joint{Correlation: Error{StandardError: 0.01, Standings: lost}, Columns: 5, K: math.Inf(1), Least: 1}
	if e := j.Coefficient(covariance); e.StandardError != 0.1 || e.HalfWidth != 0.2 || len(e.Standings) != 1 {
		t.Errorf("of sums: %+v", e)
	}
	j.K = 8 // five coefficients and an intercept leave two
	if e := j.Coefficient(covariance); !near(e.StandardError, 0.2, 1e-9) {
		t.Errorf("with two degrees of freedom of eight: %+v", e)
	}
	j.Ridge = 1
	if e := j.Coefficient(covariance); !near(e.StandardError, 0.1, 1e-9) {
		t.Errorf("with a ridge of 1: %+v", e)
	}
	for k, defined := range map[float64]bool{6: false, 6.5: false, 7: true} {
		j.K = k
		if e := j.Coefficient(covariance); (e.Undefined == "") != defined {
			t.Errorf("k = %v: %+v", k, e)
		}
	}
	j.K, j.Ridge, j.Correlation.StandardError = math.Inf(1), 0, 0.3
	if e := j.Coefficient(covariance); e.Undefined == "" {
		t.Errorf("with correlations that err by 0.3: %+v", e)
	}
	if e := j.Difference(covariance, 0.5); e.Undefined == "" {
		t.Errorf("difference with correlations that err by 0.3: %+v", e)
	}
	j.Ridge = 3
	if e := j.Coefficient(covariance); e.Undefined != "" {
		t.Errorf("a great ridge identifies: %+v", e)
	}
	j.Columns, j.Ridge = 1, 0 // a single column is not collinear
	if e := j.Coefficient(covariance); e.Undefined != "" {
		t.Errorf("one column: %+v", e)
	}
}

// The difference of two classes of half the records each is twice the covariance, and their errors
// are independent.
func TestDifferencesOfClasses(t *testing.T) {
	j := Joint{Correlation: Error{StandardError: 0.01}, Columns: 3, K: math.Inf(1), Least: 1}
	covariance := Error{StandardError: 0.1}
	if e := j.Difference(covariance, 0.5); !near(e.StandardError, math.Sqrt2*0.1, 1e-9) {
		t.Errorf("halves: %+v", e)
	}
	if rare, half := j.Difference(covariance, 0.1), j.Difference(covariance, 0.5); rare.StandardError <= half.StandardError {
		t.Errorf("a rare class errs by %v, one of half the records by %v", rare.StandardError, half.StandardError)
	}
}

// The error of sums is only their noise: that on a sum over the records, in units of spreads.
func TestSums(t *testing.T) {
	s := Sums{
		X: Normal(0, 0.5), Y: Normal(0, 0.25), Keep: Whole(), Records: 1000,
		Noise: estimate.MomentNoise{Square: 81, Product: 36, Sum: 100},
	}
	for name, c := range map[string]struct {
		of   func(Sums) (Error, error)
		want float64
	}{
		"mean":        {Sums.Mean, 10. / 1000 / 0.5},
		"covariance":  {Sums.Covariance, 6. / 1000 / 0.5 / 0.25},
		"variance":    {Sums.Variance, 9. / 1000 / 0.25},
		"correlation": {Sums.Correlation, 6. / 1000 / 0.5 / 0.25},
	} {
		e, err := c.of(s)
		if err != nil || e.Undefined != "" || !near(e.StandardError, c.want, 0.03) || !near(e.Detects(), 1.96*c.want, 0.04) {
			t.Errorf("%s: %+v, %v, want %v", name, e, err, c.want)
		}
		broken := s
		broken.Records = 0
		if _, err := c.of(broken); err == nil {
			t.Errorf("%s: no records are accepted", name)
		}
	}
	s.Noise = estimate.MomentNoise{Square: 1e9, Product: 1e9, Sum: 1e9}
	if e, err := s.Correlation(); err != nil || e.FailureProbability() < 0.9 {
		t.Errorf("a correlation that drowns: %+v, %v", e, err)
	}
}
