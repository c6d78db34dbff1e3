package analysis

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

func ptr(x float64) *float64 { return &x }

// tabled is a result with pairs, an undefined one among them, and two sections of a kind.
func tabled() Result {
	clusters := func(sizes ...int) *KMeans {
		return &KMeans{Clusters: len(sizes), Restarts: 3, Sizes: sizes, Inertia: 2.5, Centroids: [][]float64{{1, 2}, {3, 4}}}
	}
	return Result{
		Parties:  []Party{{Name: "a", Records: 7}, {Name: "b", Records: 9}},
		Sketches: []Sketch{{Side: "columns", K: 16}},
		Analyses: []Analysis{
			{
				Kind: study.Correlation, Features: []Feature{{Party: "a", Column: "x"}, {Party: "b", Column: "ward", Value: "n"}},
				Pairs:    []Pair{{0, 1, Number{ptr(0.5), ptr(0.1), ptr(0.3), ptr(0.7), ""}}},
				Repaired: &Repaired{Name: "correlation_psd", Matrix: [][]float64{{1, 0.5}, {0.5, 1}}},
			},
			{Kind: study.KMeans, KMeans: clusters(4, 5)},
			{Kind: study.KMeans, Undefined: "too few records"},
			{Kind: study.KMeans, KMeans: clusters(6, 3)},
			{
				Kind: study.Intersection, Features: []Feature{{Party: "a"}, {Party: "b"}},
				Pairs: []Pair{{0, 1, Number{Undefined: "lost in the noise"}}},
			},
		},
	}
}

func TestTables(t *testing.T) {
	got := map[string][][]any{}
	heads := map[string][]string{}
	for _, table := range tabled().Tables() {
		got[table.Name] = table.Rows
		for _, c := range table.Columns {
			heads[table.Name] = append(heads[table.Name], c.Name)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) {
				t.Errorf("%s: a row of %d values under %d columns", table.Name, len(row), len(table.Columns))
			}
		}
	}
	for name, want := range map[string][][]any{
		"numbers": {
			{int64(0), "correlation", "pair", int64(0), int64(1), "a: x", "b: ward=n", 0.5, 0.1, 0.3, 0.7, ""},
			{int64(4), "intersection", "pair", int64(0), int64(1), "a", "b", nil, nil, nil, nil, "lost in the noise"},
		},
		"k_means":           {{int64(1), int64(2), int64(3), int64(0), int64(0), 2.5}, {int64(3), int64(2), int64(3), int64(0), int64(0), 2.5}},
		"k_means_sizes":     {{int64(1), int64(0), int64(4)}, {int64(1), int64(1), int64(5)}, {int64(3), int64(0), int64(6)}, {int64(3), int64(1), int64(3)}},
		"k_means_centroids": nil,
		"repaired":          nil,
		"repaired_matrix":   nil,
		"analyses":          nil,
		"parties":           nil,
		"sketches":          nil,
	} {
		rows, there := got[name]
		if !there {
			t.Errorf("there is no table %s", name)
			continue
		}
		if want == nil {
			continue
		}
		if !slices.EqualFunc(rows, want, func(a, b []any) bool { return slices.Equal(a, b) }) {
			t.Errorf("%s = %v, want %v", name, rows, want)
		}
	}
	if want := []string{"analysis", "centroid", "column", "value"}; !slices.Equal(heads["k_means_centroids"], want) {
		t.Errorf("centroids under %v, want %v", heads["k_means_centroids"], want)
	}
}

// Whatever number the document has of its analyses, the tables have too.
func TestTablesLeaveNothingOut(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d documents (%v)", len(files), err)
	}
	checked := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		var plain struct{ Analyses []any }
		if json.Unmarshal(raw, &r) != nil || json.Unmarshal(raw, &plain) != nil || r.Format != ResultFormat {
			continue
		}
		have := map[float64]int{}
		for _, table := range r.Tables() {
			for _, row := range table.Rows {
				for _, value := range row {
					switch x := value.(type) {
					case float64:
						have[x]++
					case int64:
						have[float64(x)]++
					}
				}
			}
		}
		want := map[float64]int{}
		countNumbers(plain.Analyses, want)
		for x, n := range want {
			if checked++; have[x] < n {
				t.Errorf("%s: %v stands %d times in the document, %d times in the tables", file, x, n, have[x])
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d numbers checked", checked)
	}
}

func countNumbers(v any, out map[float64]int) {
	switch x := v.(type) {
	case float64:
		out[x]++
	case []any:
		for _, item := range x {
			countNumbers(item, out)
		}
	case map[string]any:
		for _, item := range x {
			countNumbers(item, out)
		}
	}
}

func TestMatrices(t *testing.T) {
	got := map[string]Matrix{}
	for _, m := range tabled().Matrices() {
		got[m.Name] = m
	}
	low := got["0_correlation_low"]
	if !slices.EqualFunc(low.Rows, [][]float64{{1, 0.3}, {0.3, 1}}, slices.Equal) || !slices.Equal(low.Names, []string{"a: x", "b: ward=n"}) {
		t.Errorf("lower ends %v", low)
	}
	if e := got["0_correlation_standard_error"].Rows; len(e) != 2 || e[0][0] != 0 || e[1][0] != 0.1 {
		t.Errorf("standard errors %v", e)
	}
	if c := got["1_k_means_centroids"]; len(c.Rows) != 2 || c.Names != nil {
		t.Errorf("centroids %v", c)
	}
	if m := got["0_correlation_repaired_matrix"]; len(m.Rows) != 2 || len(m.Names) != 2 {
		t.Errorf("repaired matrix %v", m)
	}
	if e := got["4_intersection_estimate"].Rows; len(e) != 2 || !math.IsNaN(e[0][1]) || !math.IsNaN(e[0][0]) {
		t.Errorf("an undefined number is %v, want NaN", e)
	}
}

func TestSingular(t *testing.T) {
	for list, item := range map[string]string{"analyses": "analysis", "parties": "party", "sizes": "size", "matrix": "matrix", "sketches": "sketch", "s": "s"} {
		if got := singular(list); got != item {
			t.Errorf("singular(%s) = %s, want %s", strconv.Quote(list), got, item)
		}
	}
}

// Numbers by two positions, such as the means of classes, are numbers in tables too.
func TestNumbersOfNumbers(t *testing.T) {
	n := Number{ptr(0.5), ptr(0.1), ptr(0.3), ptr(0.7), ""}
	a := Analysis{Kind: study.LDA, LDA: &LDA{Classes: []string{"0", "1"}, Means: [][]Number{{n, n}, {n, n}}, Within: [][]float64{{1, 2}, {2, 3}}}}
	for _, table := range a.Tables() {
		if table.Name != "lda_means" {
			continue
		}
		row := []any{int64(1), int64(0), 0.5, 0.1, 0.3, 0.7, ""}
		if len(table.Rows) != 4 || !slices.Equal(table.Rows[2], row) || table.Columns[1].Name != "column" || table.Columns[2].Name != "estimate" {
			t.Errorf("%v: %v", table.Columns, table.Rows)
		}
		return
	}
	t.Error("no table of means")
}
