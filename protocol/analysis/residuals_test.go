package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// With hardly any noise, residuals of rows spread as much as the fit's own estimate (200 rows: a
// standard error of 5 %, six of which are allowed), and are not correlated with the fitted values.
// The rows of the target itself, with nothing subtracted, spread by half as much again.
func TestResidualsOfRows(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: rademacher, k: 200, helpers: {ones: 1}}",
		"{unit: attribute, mechanism: gaussian, epsilon: 1000, delta: 1e-6}", "{kind: regression, target: weight, on: [height, pulse]}"))
	result, _ := ship(t, s, 1, people(rand.New(rand.NewPCG(3, 3)), 400, 0)).run(t)
	r := result.Analyses[0].Regression
	if r == nil || len(r.Residuals) != 200 {
		t.Fatalf("%+v", result.Analyses[0])
	}
	var fitted, residual, whole []float64
	for _, row := range r.Residuals {
		fitted, residual, whole = append(fitted, row.Fitted), append(residual, row.Residual), append(whole, row.Fitted+row.Residual)
	}
	left := *r.Residual.Estimate
	if got := stat.StdDev(residual, nil); math.Abs(got/left-1) > 0.3 {
		t.Errorf("residuals spread by %.3g, want %.3g", got, left)
	}
	if got := stat.StdDev(whole, nil); got < 1.5*left {
		t.Errorf("the target spreads by %.3g only, against %.3g that is left", got, left)
	}
	if c := stat.Correlation(fitted, residual, nil); math.Abs(c) > 5/math.Sqrt(200) {
		t.Errorf("residuals go with what was fitted: correlation %.2f", c)
	}
}

// Releases without noise give no rows.
func TestNoResidualsWithoutNoise(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: rademacher, k: 2048, helpers: {ones: 1}}", noPromise, "{kind: regression, target: weight, on: [height]}"))
	result, _ := ship(t, s, 1, people(rand.New(rand.NewPCG(3, 3)), 400, 0)).run(t)
	if r := result.Analyses[0].Regression; r == nil || r.Residuals != nil {
		t.Errorf("%+v", r)
	}
}
