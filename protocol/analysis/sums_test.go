package analysis_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol/analysis"
)

const bothSums = "  - {side: moments%s}\n  - {side: cells, L: 2, q: 1%s}"

// pool returns all parties' values of a column, as they are encoded, in original units.
func pool(data files, column int) (out []float64) {
	for _, name := range []string{"north", "south", "west"} {
		for _, row := range data[name].values {
			out = append(out, row[column])
		}
	}
	return out
}

// Without noise, moments answer as the pooled records do, to the resolution of the fixed point, and
// every interval has width zero.
func TestMomentsWithoutNoiseArePooled(t *testing.T) {
	s := parse(t, fmt.Sprintf(horizontal, fmt.Sprintf(bothSums, "", ""), noPromise, "{kind: mean}, {kind: covariance}, {kind: correlation}"))
	data := wards(rand.New(rand.NewPCG(2, 1)), 400, 250, 600)
	result, _ := ship(t, s, 3, data).run(t)
	x, y := pool(data, 0), pool(data, 1)
	means := result.Analyses[0].Means
	for i, want := range []float64{stat.Mean(x, nil), stat.Mean(y, nil)} {
		if got := means[i]; math.Abs(*got.Estimate-want) > 0.05 || *got.Low != *got.High {
			t.Errorf("mean %d is %v [%v, %v], want %v", i, *got.Estimate, *got.Low, *got.High, want)
		}
	}
	n := float64(len(x))
	covariance := answer{t, result.Analyses[1]}
	for _, pair := range []struct {
		x, y string
		want float64
	}{{"height", "pulse", stat.Covariance(x, y, nil)}, {"height", "height", stat.Variance(x, nil)}, {"pulse", "pulse", stat.Variance(y, nil)}} {
		if got := covariance.estimate(pair.x, pair.y); math.Abs(got/(pair.want*(n-1)/n)-1) > 0.01 {
			t.Errorf("covariance of %s and %s is %v, want %v", pair.x, pair.y, got, pair.want)
		}
	}
	if got, want := (answer{t, result.Analyses[2]}).estimate("height", "pulse"), stat.Correlation(x, y, nil); math.Abs(got-want) > 0.005 {
		t.Errorf("correlation %v, want %v", got, want)
	}
	if r := result.Analyses[2]; r.Estimator != "" || r.Repaired == nil || r.Repaired.Name != "correlation_psd" {
		t.Errorf("estimator %q, repaired %+v", r.Estimator, r.Repaired)
	}
}

// With noise, intervals contain the numbers of the clipped records, and those of centroids the
// numbers of the records in their cells. Documents pass the check that receivers make.
func TestSumsWithNoise(t *testing.T) {
	const promise = "{unit: record, mechanism: gaussian, epsilon: 2, delta: 1e-6}"
	s := parse(t, fmt.Sprintf(horizontal, fmt.Sprintf(bothSums, ", clip: 1.5", ", clip: 1.5"), promise, "{kind: correlation, intervals: all}, {kind: k-means, clusters: 2}"))
	data := wards(rand.New(rand.NewPCG(2, 1)), 3000, 2500, 2600)
	result, labels := ship(t, s, 3, data).run(t)
	if labels != nil {
		t.Error("records' labels travel")
	}
	r := answer{t, result.Analyses[0]}.find("height", "pulse")
	if truth := stat.Correlation(pool(data, 0), pool(data, 1), nil); *r.Low > truth || truth > *r.High || *r.High-*r.Low > 0.3 {
		t.Errorf("correlation %v [%v, %v], truth %v", *r.Estimate, *r.Low, *r.High, truth)
	}
	c := result.Analyses[1].CellMeans
	var sizes float64
	for i := range c.Sizes {
		sizes += *c.Sizes[i].Estimate
		for j, low := range []float64{100, 30} {
			if v := c.Centroids[i][j]; *v.Estimate < low || *v.Estimate > 220 || !(*v.Low < *v.High) {
				t.Errorf("cluster %d has %v [%v, %v] in column %d", i, *v.Estimate, *v.Low, *v.High, j)
			}
		}
	}
	if math.Abs(sizes-8100) > 300 || len(c.Separations) != 1 || !(*c.Separations[0].Low > 0) {
		t.Errorf("sizes add up to %v, separations %+v", sizes, c.Separations)
	}
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := analysis.Decode(raw, s.ID)
	if err != nil {
		t.Fatal(err)
	}
	labeller, err := analysis.NewLabeller(s, decoded.Analyses[1])
	if err != nil {
		t.Fatal(err)
	}
	one := s.ReadBits().One()
	if low, high := labeller.Label([]int64{0, one}), labeller.Label([]int64{one, -one}); low == high {
		t.Error("opposite records have one label")
	}
	for name, spoil := range map[string]func(*analysis.CellMeans){
		"model":       func(c *analysis.CellMeans) { c.Model = c.Model[:1] },
		"coordinates": func(c *analysis.CellMeans) { c.Model[0] = c.Model[0][:1] },
		"separation":  func(c *analysis.CellMeans) { c.Separations[0].J = 7 },
		"number":      func(c *analysis.CellMeans) { c.Sizes[0].Low = nil },
	} {
		var other analysis.Result
		if err := json.Unmarshal(raw, &other); err != nil {
			t.Fatal(err)
		}
		spoil(other.Analyses[1].CellMeans)
		bad, err := json.Marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := analysis.Decode(bad, s.ID); err == nil {
			t.Errorf("a document with a wrong %s passes", name)
		}
	}
	if _, err := analysis.NewLabeller(s, decoded.Analyses[0]); err == nil {
		t.Error("a labeller from correlations")
	}
}

// The number of clusters may be left to the cells, if enough of them stand out of the noise.
func TestCellsSuggestClusters(t *testing.T) {
	var columns strings.Builder
	for j := range 4 {
		fmt.Fprintf(&columns, "  - {name: x%d, kind: numeric, centre: 0, spread: 1}\n", j)
	}
	head, tail, _ := strings.Cut(horizontal, "  - {name: height")
	_, tail, _ = strings.Cut(tail, "sketches:")
	for privacy, answered := range map[string]bool{
		"{unit: record, mechanism: gaussian, epsilon: 8, delta: 1e-6}":    true,
		"{unit: record, mechanism: gaussian, epsilon: 0.01, delta: 1e-6}": false,
	} {
		sums := "  - {side: moments, clip: 1.5}\n  - {side: cells, L: 4, q: 2, clip: 1.5}"
		s := parse(t, fmt.Sprintf(head+columns.String()+"sketches:"+tail, sums, privacy, "{kind: k-means, clusters: auto, max_clusters: 3}"))
		rng, data := rand.New(rand.NewPCG(2, 9)), files{}
		for _, name := range []string{"north", "south", "west"} {
			var f file
			for row := range 3000 {
				at := float64(3*(row%2)) - 1.5
				f.add(fmt.Sprint(row+1), at+0.3*rng.NormFloat64(), -at+0.3*rng.NormFloat64(), at+0.3*rng.NormFloat64(), 0.5*rng.NormFloat64())
			}
			data[name] = f
		}
		result, _ := ship(t, s, 3, data).run(t)
		a := result.Analyses[0]
		switch c := a.CellMeans; {
		case answered && (c == nil || c.Clusters != 2 || c.Suggested != 2 || len(c.Sizes) != 2):
			t.Errorf("%s: %+v, %s", privacy, c, a.Undefined)
		case !answered && (c != nil || a.Undefined == ""):
			t.Errorf("%s: %+v, %s", privacy, c, a.Undefined)
		}
	}
}

// With so few records and so much noise no two cells stand out: one analysis has no answer, and the
// other is unaffected.
func TestFaintCellsAreNoAnswer(t *testing.T) {
	const promise = "{unit: record, mechanism: gaussian, epsilon: 0.2, delta: 1e-6}"
	s := parse(t, fmt.Sprintf(horizontal, fmt.Sprintf(bothSums, ", clip: 1.5", ", clip: 1.5"), promise, "{kind: k-means, clusters: 3}, {kind: mean}"))
	o := ship(t, s, 3, wards(rand.New(rand.NewPCG(2, 1)), 20, 20, 20))
	result, _, err := analysis.Run(context.Background(), o.options)
	if err != nil {
		t.Fatal(err)
	}
	if result.Analyses[0].Undefined == "" || result.Analyses[1].Means == nil {
		t.Errorf("answers %+v", result.Analyses)
	}
}
