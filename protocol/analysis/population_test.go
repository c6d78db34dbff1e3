package analysis_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol/analysis"
)

const normalQuantile = 1.959964

// drawn returns what the second interval adds to the first one, as a standard error: squares of
// half-widths add up.
func drawn(t *testing.T, n analysis.Number) float64 {
	t.Helper()
	if n.Estimate == nil || n.PopulationLow == nil || n.PopulationHigh == nil {
		t.Fatalf("%+v has no second interval", n)
	}
	at := *n.Estimate
	var sum float64
	for _, side := range [][2]float64{{at - *n.PopulationLow, at - *n.Low}, {*n.PopulationHigh - at, *n.High - at}} {
		sum += math.Sqrt(side[0]*side[0]-side[1]*side[1]) / 2
	}
	return sum / normalQuantile
}

func nearly(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= tolerance) {
		t.Errorf("%s: the draw has the standard error %g, of the pooled records it is %g", what, got, want)
	}
}

// Without noise the second intervals are those that a statistician would compute from the pooled
// records, in original units.
func TestSecondIntervalsOfSumsArePooled(t *testing.T) {
	data := sick(rand.New(rand.NewPCG(3, 1)), 4000, 2500, 6000)
	x, ill, y := pool(data, 0), pool(data, 1), pool(data, 2)
	n := float64(len(x))
	for _, kind := range []string{binaryLabel, categoricalLabel} {
		s := parse(t, fmt.Sprintf(labelled, kind, "", noPromise, "{kind: mean}, {kind: covariance}, {kind: correlation}, {kind: lda}, {kind: regression, target: pulse, on: [height]}"))
		result, _ := ship(t, s, 3, data).run(t)
		at := func(a analysis.Analysis, column, value string) int {
			for i, f := range a.Features {
				if f.Column == column && (f.Value == value || f.Value == "") {
					return i
				}
			}
			t.Fatalf("no %s %s", column, value)
			return 0
		}
		a := result.Analyses
		p := stat.Mean(ill, nil)
		for column, want := range map[string]float64{"height": stat.StdDev(x, nil), "pulse": stat.StdDev(y, nil), "ill": math.Sqrt(p * (1 - p))} {
			nearly(t, "mean of "+column, drawn(t, a[0].Means[at(a[0], column, "ill")]), want/math.Sqrt(n), .01)
		}
		number := func(a analysis.Analysis, one, other string) analysis.Number {
			i, j := at(a, one, "ill"), at(a, other, "ill")
			for _, pair := range a.Pairs {
				if pair.I == min(i, j) && pair.J == max(i, j) {
					return pair.Number
				}
			}
			t.Fatalf("no pair %s, %s", one, other)
			return analysis.Number{}
		}
		vx, vy, c, rho := stat.Variance(x, nil), stat.Variance(y, nil), stat.Covariance(x, y, nil), stat.Correlation(x, y, nil)
		nearly(t, "variance", drawn(t, number(a[1], "height", "height")), vx*math.Sqrt(2/n), .01)
		nearly(t, "variance of a label", drawn(t, number(a[1], "ill", "ill")), math.Sqrt(p*(1-p)*(1-4*p*(1-p))/n), .01)
		nearly(t, "covariance", drawn(t, number(a[1], "height", "pulse")), math.Sqrt((c*c+vx*vy)/n), .01)
		nearly(t, "correlation", drawn(t, number(a[2], "height", "pulse")), (1-rho*rho)/math.Sqrt(n), .01)

		// Within classes.
		l := a[3].LDA
		if l == nil {
			t.Fatal(a[3].Undefined)
		}
		for class, name := range l.Classes {
			k, share := 0.0, 1-p
			if name == "ill" || name == "1" {
				k, share = 1, p
			}
			nearly(t, "share of "+name, drawn(t, l.Shares[class]), math.Sqrt(share*(1-share)/n), .01)
			var within []float64
			for i, v := range x {
				if ill[i] == k {
					within = append(within, v)
				}
			}
			nearly(t, "mean of the "+name, drawn(t, l.Means[class][0]), stat.StdDev(within, nil)/math.Sqrt(float64(len(within))), .05)
		}
		// A line: y on x.
		r := a[4].Regression
		rest := vy * (1 - rho*rho)
		nearly(t, "slope", drawn(t, r.Coefficients[0]), math.Sqrt(rest/vx/n), .01)
		mean := stat.Mean(x, nil)
		nearly(t, "intercept", drawn(t, r.Intercept), math.Sqrt(rest*(1/n+mean*mean/vx/n)), .01)
	}
}

// Between parties that share all records, or some, the sampling error is that of the shared
// records.
func TestSecondIntervalsOfColumnsAreOfSharedRecords(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: rademacher, k: 4096}", noPromise,
		"{kind: correlation}, {kind: covariance}, {kind: sums}, {kind: regression, target: weight, on: [height]}, {kind: inner-product}, {kind: cosine}, {kind: distance}, {kind: intersection}, {kind: pca}"))
	data := people(rand.New(rand.NewPCG(3, 3)), 900, 0)
	result, _ := ship(t, s, 1, data).run(t)
	truth := pooled(s, data)
	rows, _ := truth.Dims()
	n := float64(rows)
	column := func(i int) []float64 { return mat.Col(nil, i, truth) }
	height, smoker, pulse := column(0), column(5), column(6)
	rho := stat.Correlation(height, pulse, nil)
	nearly(t, "correlation", drawn(t, answer{t, result.Analyses[0]}.find("north/height", "west/pulse").Number), (1-rho*rho)/math.Sqrt(n), .15)
	vx, vy, c := stat.Variance(height, nil), stat.Variance(pulse, nil), stat.Covariance(height, pulse, nil)
	nearly(t, "covariance", drawn(t, answer{t, result.Analyses[1]}.find("north/height", "west/pulse").Number), math.Sqrt((c*c+vx*vy)/n), .15)
	for _, row := range result.Analyses[2].Sums.Rows {
		switch f := result.Analyses[2].Features[row.Feature]; f.Column {
		case "pulse":
			nearly(t, "mean over "+row.Over, drawn(t, row.Mean), math.Sqrt(vy/n), .15)
			nearly(t, "sum over "+row.Over, drawn(t, row.Sum), math.Sqrt(vy*n), .15)
		case "smoker":
			nearly(t, "share over "+row.Over, drawn(t, row.Mean), stat.StdDev(smoker, nil)/math.Sqrt(n), .15)
		}
	}
	r := result.Analyses[3].Regression
	weight := column(1)
	between := stat.Correlation(height, weight, nil)
	nearly(t, "slope", drawn(t, r.Coefficients[0]), math.Sqrt(stat.Variance(weight, nil)*(1-between*between)/vx/n), .15)

	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := analysis.Decode(raw, s.ID); err != nil {
		t.Error(err)
	}
	for _, a := range result.Analyses[4:] {
		raw, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), "population") {
			t.Errorf("%s has second intervals, and no number that is about people", a.Kind)
		}
	}
}

// A document made elsewhere may say anything.
func TestSecondIntervalsHoldTheFirst(t *testing.T) {
	s := parse(t, fmt.Sprintf(labelled, binaryLabel, "", noPromise, "{kind: mean}"))
	result, _ := ship(t, s, 3, sick(rand.New(rand.NewPCG(3, 1)), 40, 25, 60)).run(t)
	at := func(x float64) *float64 { return &x }
	for name, spoil := range map[string]func(*analysis.Number){
		"low alone":  func(n *analysis.Number) { n.PopulationHigh = nil },
		"high alone": func(n *analysis.Number) { n.PopulationLow = nil },
		"narrower":   func(n *analysis.Number) { n.PopulationLow = at(*n.Low + 1) },
		"below":      func(n *analysis.Number) { n.PopulationHigh = at(*n.High - 1) },
		"undefined": func(n *analysis.Number) {
			n.Estimate, n.StandardError, n.Low, n.High, n.Undefined = nil, nil, nil, nil, "no"
		},
	} {
		number := result.Analyses[0].Means[0]
		spoil(&result.Analyses[0].Means[0])
		raw, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := analysis.Decode(raw, s.ID); err == nil || !strings.Contains(err.Error(), "mean 1") {
			t.Errorf("%s: %v", name, err)
		}
		result.Analyses[0].Means[0] = number
	}
}
