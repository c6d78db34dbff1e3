package outcome

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/cancer"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// tiny is a vertical scenario of five people and two columns; the first party
// lacks the last person, the second the first, the third holds nobody.
func tiny() scenario.Scenario {
	return scenario.Scenario{
		Name:   "tiny",
		Pooled: scenario.Table{IDs: []string{"a", "b", "c", "d", "e"}},
		Tables: [scenario.Parties]scenario.Table{
			{Columns: []string{"x"}, Pooled: []int{3, 1, 0, 2}, Values: [][]float64{{4}, {2}, {100}, {3}}},
			{Columns: []string{"y"}, Pooled: []int{1, 2, 3, 4}, Values: [][]float64{{5}, {7}, {6}, {-100}}},
			{},
		},
		Limits: map[study.AnalysisKind]float64{study.Correlation: 1},
	}
}

func f(x float64) *float64 { return &x }

func TestTruthRunsOverTheIntersection(t *testing.T) {
	// The result has its parties in another order than the scenario.
	answer := analysis.Analysis{
		Kind: study.Correlation, Level: 0.95,
		Features: []analysis.Feature{{Party: "south", Column: "y"}, {Party: "north", Column: "x"}},
		Pairs:    []analysis.Pair{{I: 0, J: 1, Number: analysis.Number{Estimate: f(0.4), Low: f(0.1), High: f(0.6)}}},
	}
	m, err := NewMatrix(tiny(), answer)
	if err != nil {
		t.Fatal(err)
	}
	want := stat.Correlation([]float64{2, 3, 4}, []float64{5, 7, 6}, nil)
	if p := m.Pairs[0]; math.Abs(p.Truth-want) > 1e-12 || !p.Cross || p.I != 0 || p.J != 1 {
		t.Errorf("pair %+v, want the truth %v between features 0 and 1", p, want)
	}
	if m.Features[0].Column != "x" || m.Features[1].Party != 1 {
		t.Errorf("features %+v are not in the order of the parties", m.Features)
	}
	answer.Kind = study.Intersection
	answer.Features = []analysis.Feature{{Party: "south"}, {Party: "north"}}
	if m, err = NewMatrix(tiny(), answer); err != nil || m.Pairs[0].Truth != 3 {
		t.Errorf("intersection %v (%v), want 3", m.Pairs, err)
	}
}

func TestNewMatrixRefuses(t *testing.T) {
	good := func() analysis.Analysis {
		return analysis.Analysis{
			Kind: study.Correlation, Level: 0.95,
			Features: []analysis.Feature{{Party: "north", Column: "x"}, {Party: "south", Column: "y"}},
			Pairs:    []analysis.Pair{{I: 0, J: 1, Number: analysis.Number{Estimate: f(0.4), Low: f(0.1), High: f(0.6)}}},
		}
	}
	for name, c := range map[string]struct {
		change func(*analysis.Analysis)
		want   string
	}{
		"party":    {func(a *analysis.Analysis) { a.Features[0].Party = "east" }, `unknown party "east"`},
		"column":   {func(a *analysis.Analysis) { a.Features[0].Column = "z" }, `no column "z"`},
		"index":    {func(a *analysis.Analysis) { a.Pairs[0].J = 2 }, "no pair 0, 2"},
		"interval": {func(a *analysis.Analysis) { a.Pairs[0].Low = nil }, "neither an interval nor a reason"},
		"kind":     {func(a *analysis.Analysis) { a.Kind = study.Cosine }, "no truth"},
		"pairs":    {func(a *analysis.Analysis) { a.Pairs = nil }, "no pair across parties"},
	} {
		a := good()
		c.change(&a)
		if _, err := NewMatrix(tiny(), a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	m := Matrix{Kind: study.Correlation}
	for _, c := range []struct {
		pair Pair
		want float64
	}{
		{Pair{Estimate: 0.5, Low: 0.3, High: 0.6, Truth: 0.5}, 0},
		{Pair{Estimate: 0.5, Low: 0.3, High: 0.6, Truth: 0.4}, 0.5},
		{Pair{Estimate: 0.5, Low: 0.3, High: 0.6, Truth: 0.8}, 3},
		{Pair{Estimate: 1, Low: 1, High: 1, Truth: 0.9}, 1},
		{Pair{Estimate: 1, Low: 0.8, High: 1, Truth: 0.9}, 0},
		{Pair{Estimate: 0.5, Low: 0.5, High: 0.5, Truth: 0.4}, math.Inf(1)},
	} {
		if got := m.Distance(c.pair); math.Abs(got-c.want) > 1e-12 && got != c.want {
			t.Errorf("distance of %+v is %v, want %v", c.pair, got, c.want)
		}
	}
	m.Kind = study.Intersection
	if got := m.Distance(Pair{Estimate: 90, Low: 85, High: 90, Truth: 80}); got != 1 {
		t.Errorf("an intersection at its end that misses has distance %v, want 1", got)
	}
}

func TestUndefinedFails(t *testing.T) {
	s := Study{Scenario: tiny(), Matrices: []Matrix{{
		Kind: study.Correlation, Level: 0.95,
		Features: []Feature{{0, "x"}, {1, "y"}},
		Pairs:    []Pair{{I: 0, J: 1, Cross: true, Estimate: math.NaN(), Low: math.NaN(), High: math.NaN(), Undefined: "why"}},
	}}}
	if v := Judge([]Study{s}); v.OK() || !strings.Contains(v.Checks[0].String(), "1 undefined") {
		t.Errorf("an undefined estimate passes: %v", v.Checks)
	}
}

func TestParseResultWantsTheFormat(t *testing.T) {
	if _, err := ParseResult([]byte(`{"cosketch":"cosketch/result/9"}`)); err == nil {
		t.Error("another format was read")
	}
	if _, err := ParseResult([]byte(`{"cosketch":"cosketch/result/1"}`)); err != nil {
		t.Error(err)
	}
}

// hospitals returns a scenario and the labels that k-means on the pooled records
// gives each party's records.
func hospitals(t *testing.T) (scenario.Scenario, cancer.Table, [scenario.Parties][]int) {
	t.Helper()
	table, err := cancer.Load()
	if err != nil {
		t.Fatal(err)
	}
	s := scenario.Hospitals(table, rand.New(rand.NewPCG(4, 4)))[0]
	pooled, err := cluster.KMeans(context.Background(), unitRange(s), cluster.Options{Clusters: 2, Rand: rand.New(rand.NewPCG(5, 5))})
	if err != nil {
		t.Fatal(err)
	}
	var labels [scenario.Parties][]int
	for p, held := range s.Tables {
		for _, row := range held.Pooled {
			labels[p] = append(labels[p], pooled.Labels[row])
		}
	}
	return s, table, labels
}

// TestPooledClusters holds what is known of k-means on these data: it agrees with
// the diagnosis on .928 of the patients, and the larger cluster has .668 of them.
func TestPooledClusters(t *testing.T) {
	s, table, labels := hospitals(t)
	c, err := NewClusters(s, table, labels)
	if err != nil {
		t.Fatal(err)
	}
	for _, figure := range []struct {
		name      string
		got, want float64
	}{
		{"agreement with pooled k-means", c.Pooled.Agreement, 1},
		{"larger pooled cluster", c.Pooled.Baseline, 0.668},
		{"agreement with the diagnosis", c.Known.Agreement, 0.928},
		{"larger class of the diagnosis", c.Known.Baseline, 0.627},
		{"pooled against the diagnosis", c.Ceiling, 0.928},
	} {
		if math.Abs(figure.got-figure.want) > 0.0005 {
			t.Errorf("%s: %.4f, want %.3f", figure.name, figure.got, figure.want)
		}
	}
	if c.Sizes[0] < c.Sizes[1] || c.Sizes[0]+c.Sizes[1] != cancer.Patients {
		t.Errorf("sizes %v", c.Sizes)
	}
	for i, p := range c.Points {
		if p.Cluster != p.Pooled {
			t.Fatalf("record %d is in cluster %d and in pooled cluster %d", i, p.Cluster, p.Pooled)
		}
	}
	var x, y []float64
	for _, p := range c.Points {
		x, y = append(x, p.X), append(y, p.Y)
	}
	if r := stat.Correlation(x, y, nil); math.Abs(r) > 1e-9 || math.Abs(stat.Mean(x, nil)) > 1e-9 {
		t.Errorf("the axes correlate by %v, their first mean is %v, want 0 and 0", r, stat.Mean(x, nil))
	}
	if ratio := stat.Variance(x, nil) / stat.Variance(y, nil); math.Abs(ratio-c.Variance[0]/c.Variance[1]) > 1e-9 {
		t.Errorf("the points' variances have ratio %v, the stated shares %v", ratio, c.Variance)
	}
}

func TestClustersRefuse(t *testing.T) {
	s, table, labels := hospitals(t)
	labels[1][0] = 2
	if _, err := NewClusters(s, table, labels); err == nil || !strings.Contains(err.Error(), "label 2") {
		t.Errorf("error %v, want one about label 2", err)
	}
	labels[1] = labels[1][1:]
	if _, err := NewClusters(s, table, labels); err == nil || !strings.Contains(err.Error(), "189 labels for 190 records") {
		t.Errorf("error %v, want one about the number of labels", err)
	}
}
