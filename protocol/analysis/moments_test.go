package analysis_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

const wholeMatrix = "{kind: pca, scale: false}, {kind: pca, components: 2}, {kind: pca, centre: false}," +
	" {kind: regression, target: weight, on: [height, pulse, blood]}, {kind: regression, target: pulse, on: [height], ridge: 0.5}," +
	" {kind: regression, target: pulse, on: [smoker]}, {kind: clustering}, {kind: clustering, linkage: ward}, {kind: sums}, {kind: correlation}"

// pooled returns a row for each record that all files hold: height, weight, blood a, b, zero,
// smoker, pulse, as the fixed point stores them.
func pooled(s *study.Study, data files) *mat.Dense {
	at := func(f file) map[string][]float64 {
		out := map[string][]float64{}
		for i, id := range f.ids {
			out[id] = f.values[i]
		}
		return out
	}
	north, south, west := at(data["north"]), at(data["south"]), at(data["west"])
	var rows []float64
	for _, id := range data["north"].ids {
		n, b, w := north[id], south[id], west[id]
		if b == nil || w == nil {
			continue
		}
		blood := make([]float64, 3)
		blood[int(b[0])] = 1
		rows = append(rows, rounded(s, 0, n[0]), rounded(s, 1, n[1]), blood[0], blood[1], blood[2], b[1], rounded(s, 4, w[0]))
	}
	return mat.NewDense(len(rows)/7, 7, rows)
}

// covers fails unless a number is within five standard errors of the truth, and its interval
// contains its estimate: false rejection 6e-7.
func covers(t *testing.T, what string, n analysis.Number, want float64) {
	t.Helper()
	if n.Estimate == nil {
		t.Errorf("%s is undefined: %s", what, n.Undefined)
		return
	}
	if math.Abs(*n.Estimate-want) > 5**n.StandardError+1e-9 {
		t.Errorf("%s is %g ± %g, want %g", what, *n.Estimate, *n.StandardError, want)
	}
	if !(*n.Low < *n.High) {
		t.Errorf("%s has the interval [%g, %g]", what, *n.Low, *n.High)
	}
}

// What is computed from the whole matrix matches the pooled data, in original units.
func TestWholeMatrix(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: rademacher, k: 2048}", noPromise, wholeMatrix))
	data := people(rand.New(rand.NewPCG(3, 3)), 400, 0)
	result, _ := ship(t, s, 1, data).run(t)
	truth := pooled(s, data)
	n, _ := truth.Dims()
	var c mat.SymDense
	stat.CovarianceMatrix(&c, truth, nil)
	c.ScaleSym(float64(n-1)/float64(n), &c)
	var eigen mat.EigenSym
	eigen.Factorize(&c, false)
	values := eigen.Values(nil)
	a := result.Analyses

	p := a[0].PCA
	if a[0].Units != "original" || p.Scaled || !p.Centred || len(p.Components) != 7 {
		t.Fatalf("%+v", a[0])
	}
	for i := range 2 { // height and weight, pulse: the others are of order one
		covers(t, "eigenvalue", p.Components[i].Interval, values[6-i])
		covers(t, "share", p.Components[i].Share, values[6-i]/mat.Trace(&c))
	}
	if last := p.Components[6].Eigenvalue; math.Abs(last) > 1e-9 {
		t.Errorf("blood groups add up to one, but the least eigenvalue is %g", last)
	}
	if p := a[1].PCA; !p.Scaled || len(p.Components[1].LoadingIntervals) != 7 || len(p.Components[2].LoadingIntervals) != 0 {
		t.Errorf("%+v", p)
	}
	if a[2].PCA.Centred || a[2].PCA.Scaled || strings.Contains(a[2].Assumption, "random") {
		t.Errorf("%+v", a[2])
	}

	r := a[3].Regression
	if len(a[3].Features) != 4 || len(r.Reference) != 1 || r.Reference[0].Value != "a" || r.Target.Column != "weight" {
		t.Fatalf("%+v", a[3])
	}
	design := mat.NewDense(n, 5, nil)
	on := map[string]int{"height": 0, "b": 3, "zero": 4, "pulse": 6}
	var order []int
	for _, f := range a[3].Features {
		name := f.Column
		if f.Value != "" {
			name = f.Value
		}
		order = append(order, on[name])
	}
	for row := range n {
		design.Set(row, 4, 1)
		for i, column := range order {
			design.Set(row, i, truth.At(row, column))
		}
	}
	var beta, rest mat.VecDense
	y := mat.NewVecDense(n, mat.Col(nil, 1, truth))
	if err := beta.SolveVec(design, y); err != nil {
		t.Fatal(err)
	}
	rest.MulVec(design, &beta)
	rest.SubVec(y, &rest)
	left := mat.Dot(&rest, &rest) / float64(n)
	for i := range order {
		covers(t, fmt.Sprintf("coefficient of %v", a[3].Features[i]), r.Coefficients[i], beta.AtVec(i))
	}
	covers(t, "intercept", r.Intercept, beta.AtVec(4))
	covers(t, "R²", r.RSquared, 1-left/c.At(1, 1))
	covers(t, "residual", r.Residual, math.Sqrt(left))
	covers(t, "ridge", a[4].Regression.Coefficients[0], c.At(0, 6)/(1.5*c.At(0, 0)))

	for _, h := range []*analysis.Hierarchy{a[6].Hierarchy, a[7].Hierarchy} {
		if first := h.Merges[0]; len(h.Merges) != 6 || first.A > first.B || first.StandardError <= 0 {
			t.Errorf("%+v", h)
		}
	}
	seen := 0
	for _, row := range a[8].Sums.Rows {
		f := a[8].Features[row.Feature]
		if f.Column != "pulse" {
			continue
		}
		seen++
		covers(t, "sum over "+row.Over, row.Sum, mat.Sum(truth.ColView(6)))
		covers(t, "mean over "+row.Over, row.Mean, stat.Mean(mat.Col(nil, 6, truth), nil))
	}
	if seen != 3 {
		t.Errorf("pulse has %d sums", seen)
	}
	golden(t, "whole.json", result)
	document, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := analysis.Decode(document, s.ID); err != nil {
		t.Error(err)
	}
}

// A constant column has no correlation. What needs one says so, and everything else is as if the
// column did not exist.
func TestConstantColumn(t *testing.T) {
	for _, terms := range []struct{ sketch, privacy string }{
		{"{side: columns, family: rademacher, k: 1024}", noPromise},
		{"{side: columns, family: sparse, k: 1024}", "{unit: attribute, mechanism: laplace, epsilon: 1000}"},
	} {
		s := parse(t, fmt.Sprintf(vertical, terms.sketch, terms.privacy, wholeMatrix))
		data := people(rand.New(rand.NewPCG(3, 3)), 400, 0)
		for _, v := range data["south"].values {
			v[1] = 1
		}
		result, _ := ship(t, s, 1, data).run(t)
		a := result.Analyses
		if why := a[5].Undefined; !strings.Contains(why, `"smoker"`) {
			t.Errorf("the regression on it is undefined: %q", why)
		}
		for _, i := range []int{3, 4} {
			if a[i].Undefined != "" {
				t.Errorf("a regression without it is undefined: %s", a[i].Undefined)
			}
		}
		for _, left := range [][]analysis.Feature{a[1].PCA.LeftOut, a[6].Hierarchy.LeftOut} {
			if terms.privacy == noPromise && (len(left) != 1 || left[0].Column != "smoker") {
				t.Errorf("left out: %v", left)
			}
		}
		if len(a[0].PCA.Components) != 7 || a[8].Sums == nil {
			t.Error("what needs no correlation has no answer")
		}
		for _, p := range a[9].Pairs {
			constant := a[9].Features[p.I].Column == "smoker" || a[9].Features[p.J].Column == "smoker"
			if terms.privacy == noPromise && (p.Undefined != "") != constant {
				t.Errorf("pair %v, %v: %q", a[9].Features[p.I], a[9].Features[p.J], p.Undefined)
			}
		}
	}
}

// wide returns a study of three parties with so many columns each, and sketches of correlated
// columns.
func wide(t testing.TB, each, k int, asked string) analysis.Options {
	t.Helper()
	var columns strings.Builder
	for i := range 3 * each {
		fmt.Fprintf(&columns, "  - {name: c%d, kind: binary, owner: %s}\n", i, []string{"north", "south", "west"}[i%3])
	}
	s := parse(t, fmt.Sprintf("partition: vertical\nrecords: {id: [patient]}\ncolumns:\n%ssketches:\n  - {side: columns, family: rademacher, k: %d}\nprivacy: {mechanism: none}\nanalyses: [%s]\n", columns.String(), k, asked))
	rng := rand.New(rand.NewPCG(1, 1))
	o := analysis.Options{Study: s, Attempt: 1, Complete: true}
	shared := make([]int64, k)
	for i := range shared {
		shared[i] = int64(rng.NormFloat64() * 1e6)
	}
	for party := range s.Parties {
		sk := sketch.Sketch{Side: sketch.Columns, Rows: k, Cols: each + 1, Data: make([]int64, k*(each+1))}
		for i := range sk.Data {
			sk.Data[i] = int64(rng.NormFloat64()*1e6) + shared[i/sk.Cols]
			if i%sk.Cols == each {
				sk.Data[i] = shared[i/sk.Cols] // ones
			}
		}
		o.Contributions = append(o.Contributions, analysis.Contribution{Party: party, Records: 5000, Sketches: []sketch.Sketch{sk}})
	}
	return o
}

// Long analyses report their progress, and stop when cancelled.
func TestLongAnalysesAreObserved(t *testing.T) {
	o := wide(t, 70, 300, "{kind: correlation}, {kind: pca}")
	var seen []analysis.Progress
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.Observe = func(p analysis.Progress) { seen = append(seen, p) }
	if _, _, err := analysis.Run(ctx, o); err != nil {
		t.Fatal(err)
	}
	if n := len(seen); n != 10 || seen[n-1].Done != seen[n-1].Total || seen[0].Analysis != 1 || seen[0].Kind != study.PCA {
		t.Errorf("told of %+v", seen)
	}
	o.Observe = func(analysis.Progress) { cancel() }
	if _, _, err := analysis.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run ends with %v", err)
	}
}

// All correlations of 1,000 columns of three parties with k = 16,384, from merged sketches
// to the document.
func BenchmarkCorrelationOf1000Columns(b *testing.B) {
	o := wide(b, 333, 16384, "{kind: correlation}")
	for b.Loop() {
		result, _, err := analysis.Run(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		if n := len(result.Analyses[0].Pairs); n != 999*998/2 || result.Analyses[0].Pairs[0].Estimate == nil {
			b.Fatalf("%d pairs, %+v", n, result.Analyses[0].Pairs[0])
		}
	}
}

// Principal components of 1,000 columns, with the loadings of ten.
func BenchmarkPCAOf1000Columns(b *testing.B) {
	o := wide(b, 333, 2048, "{kind: pca}")
	for b.Loop() {
		if _, _, err := analysis.Run(context.Background(), o); err != nil {
			b.Fatal(err)
		}
	}
}
