package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// Answers about a transformed column are about its transformed values, are named so, and cover
// their true numbers. A mean is also given in the column's own unit. From bounds without the
// transform, the same amounts with the same noise give far worse answers.
func TestTransformedColumns(t *testing.T) {
	const promise = "{unit: record, mechanism: gaussian, epsilon: 6, delta: 1e-6}"
	const asked = "{kind: mean}, {kind: correlation}, {kind: regression, target: cost}, {kind: covariance}"
	rng, data := rand.New(rand.NewPCG(5, 6)), files{}
	var logs, others, scaled []float64
	for _, name := range []string{"north", "south", "west"} {
		var f file
		for i := range 3000 {
			z := rng.NormFloat64()
			cost, pulse := 2000*math.Exp(1.1*z), 70+6*z+8*rng.NormFloat64()
			f.add(fmt.Sprint(i), cost, pulse)
			logs, others, scaled = append(logs, math.Log(cost)), append(others, pulse), append(scaled, math.Asinh(cost/100))
		}
		data[name] = f
	}
	rho := func(x []float64) float64 { return stat.Correlation(x, others, nil) }
	width := map[string]float64{}
	for terms, want := range map[string]struct {
		title  string
		values []float64
		amount float64 // if one is expected
	}{
		"transform: log, centre: 2000, spread: 3":                {"log(cost)", logs, 2000},
		"transform: log, bounds: [1, 1000000]":                   {"log(cost)", logs, 0},
		"transform: asinh, unit: 100, centre: 2000, spread: 3":   {"asinh(cost/100)", scaled, 0},
		"transform: asinh, unit: 100, bounds: [-5000, 10000000]": {"asinh(cost/100)", scaled, 0},
		"bounds: [0, 10000000]":                                  {"cost", nil, 0},
	} {
		text := strings.Replace(fmt.Sprintf(horizontal, "  - {side: moments, clip: 2}", promise, asked), "{name: height, kind: numeric, bounds: [100, 220]}", "{name: cost, kind: numeric, "+terms+"}", 1)
		result, _ := ship(t, parse(t, text), 3, data).run(t)
		mean, regression := result.Analyses[0], result.Analyses[2].Regression
		if got := mean.Features[0].Column; got != want.title {
			t.Fatalf("%s: answers are of %q, want %q", terms, got, want.title)
		}
		r := answer{t, result.Analyses[1]}.find(want.title, "pulse")
		said := mean.Amounts(func(estimate, _, _ float64) (string, string) { return fmt.Sprintf("%.0f", estimate), "" })
		if want.values == nil {
			if len(said) > 0 {
				t.Errorf("%s: %q", terms, said)
			}
			if r.Estimate != nil {
				width["bounds"] = *r.High - *r.Low
			} else {
				width["bounds"] = 2
			}
			continue
		}
		covers(t, terms+": the mean", mean.Means[0], stat.Mean(want.values, nil))
		covers(t, terms+": the correlation", r.Number, rho(want.values))
		width[terms] = *r.High - *r.Low
		if regression == nil || regression.Target.Column != want.title {
			t.Errorf("%s: the regression is %+v", terms, regression)
		}
		var amount float64
		if len(said) == 1 {
			fmt.Sscanf(said[0], "The mean of "+want.title+" stands for cost of %f", &amount)
		}
		if amount == 0 || want.amount > 0 && math.Abs(amount/want.amount-1) > 0.1 {
			t.Errorf("%s: %q", terms, said)
		}
	}
	if known := width["transform: log, centre: 2000, spread: 3"]; !(known < 0.1) || width["bounds"] < 10*known {
		t.Errorf("widths of the correlation's interval: %v", width)
	}
}

// A result gives amounts only for columns that have a transform and are defined, and for no more
// columns than people read.
func TestAmountsOfFewColumns(t *testing.T) {
	one := 1.0
	a := analysis.Analysis{}
	for i := range 50 {
		a.Features = append(a.Features, analysis.Feature{Column: fmt.Sprintf("log(x%d)", i)})
		a.Means = append(a.Means, analysis.Number{Estimate: &one, Low: &one, High: &one})
	}
	a.Means[0] = analysis.Number{Undefined: "too few"}
	said := a.Amounts(func(float64, float64, float64) (string, string) { return "e", "" })
	if len(said) != 20 || !strings.HasPrefix(said[0], "The mean of log(x1) stands for x1 of e, the geometric mean ( for these records). ") {
		t.Errorf("%d sentences, the first %q", len(said), said[0])
	}
}
