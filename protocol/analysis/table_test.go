package analysis

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

func ptr(x float64) *float64 { return &x }

// tabled returns a result with pairs, one of them undefined, and two sections of a kind.
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
				Pairs:    []Pair{{0, 1, Number{ptr(0.5), ptr(0.1), ptr(0.3), ptr(0.7), ptr(0.2), ptr(0.8), "", nil}}},
				Repaired: &Repaired{Name: "correlation_psd", Matrix: [][]float64{{1, 0.5}, {0.5, 1}}},
			},
			{Kind: study.KMeans, Sections: Sections{KMeans: clusters(4, 5)}},
			{Kind: study.KMeans, Undefined: "too few records"},
			{Kind: study.KMeans, Sections: Sections{KMeans: clusters(6, 3)}},
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
			{int64(0), "correlation", "pair", int64(0), int64(1), "a: x", "b: ward=n", 0.5, 0.1, 0.3, 0.7, 0.2, 0.8, ""},
			{int64(4), "intersection", "pair", int64(0), int64(1), "a", "b", nil, nil, nil, nil, nil, nil, "lost in the noise"},
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
	if want := []string{"analysis", "cluster", "coordinate", "value"}; !slices.Equal(heads["k_means_centroids"], want) {
		t.Errorf("centroids under %v, want %v", heads["k_means_centroids"], want)
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
	for list, item := range map[string]string{"analyses": "analysis", "parties": "party", "sizes": "size", "classes": "class", "matrix": "matrix", "sketches": "sketch", "s": "s"} {
		if got := singular(list); got != item {
			t.Errorf("singular(%s) = %s, want %s", strconv.Quote(list), got, item)
		}
	}
}

// Positions in lists have names: of features, of classes, of clusters.
func TestTablesHaveNames(t *testing.T) {
	n := Number{ptr(0.5), ptr(0.1), ptr(0.3), ptr(0.7), ptr(0.2), ptr(0.8), "", nil}
	numbers := []any{0.5, 0.1, 0.3, 0.7, 0.2, 0.8, ""}
	height, ward := Feature{Column: "height"}, Feature{Party: "north", Column: "ward", Value: "n"}
	features := []Feature{height, ward}
	tables := map[string]Table{}
	for _, a := range []Analysis{
		{Kind: study.Mean, Features: features, Sections: Sections{Means: Means{n, n}}},
		{Kind: study.Regression, Features: features, Sections: Sections{Regression: &Regression{Target: ward, Coefficients: []Number{n, n}, Reference: []Feature{height}}}},
		{Kind: study.LDA, Features: features, Sections: Sections{LDA: &LDA{
			Classes: []string{"ill", "well"}, Means: [][]Number{{n, n}, {n, n}}, Weights: [][]Number{{n, n}}, Within: [][]float64{{1, 2}, {2, 3}}, Apart: []ClassApart{{0, 1, n, n}},
			Model: []Plane{{Weights: []float64{5, 6}}}, LeftOut: []string{"dead"},
		}}},
		{Kind: study.KMeans, Features: features, Sections: Sections{CellMeans: &CellMeans{Clusters: 2, Centroids: [][]Number{{n, n}, {n, n}}, Separations: []Pair{{0, 1, n}}}}},
		{Kind: study.Clustering, Features: append(features, Feature{Column: "pulse"}), Sections: Sections{Hierarchy: &Hierarchy{Merges: []Merge{{A: 1, B: 0}, {A: 2, B: 3}}, Leaves: []int{2, 1, 0}}}},
		{Kind: study.Sums, Features: features, Sections: Sections{Sums: &Sums{Rows: []SumRow{{Feature: 1, Over: "south", Sum: n, Mean: n}}}}},
		{Kind: study.Neighbors, Features: []Feature{{Party: "north"}, {Party: "south"}}, Sections: Sections{Neighbors: &Neighbors{Edges: [][]int{{1, 2}, {3, 4}}, Nearest: []Quantile{{0.5, 7}}}}},
		{Kind: study.SVM, Sections: Sections{Classifier: &Classifier{
			Classes: []string{"a", "b"}, Confusion: [][]float64{{1, 2}, {3, 4}}, Margins: []Margins{{"b", []Quantile{{0.5, 9}}}},
			ClassPlanes: []Planes{{"b", []Plane{{Weights: []float64{8}}}}}, Scatter: &Scatter{Points: []Dot{{1, 2, 1}}},
		}}},
	} {
		for _, table := range a.Tables() {
			if table.Name != "features" {
				tables[table.Name] = table
			}
		}
	}
	inNorth := []any{int64(1), "north: ward=n", "north", "ward", "n"}
	for _, test := range []struct {
		table, columns string
		row            int
		want           []any
	}{
		{"means", "i feature party column value estimate standard_error low high population_low population_high undefined", 1, slices.Concat(inNorth, numbers)},
		{"means", "", 0, slices.Concat([]any{int64(0), "height", nil, "height", nil}, numbers)},
		{"regression_coefficients", "i feature party column value estimate standard_error low high population_low population_high undefined", 1, slices.Concat(inNorth, numbers)},
		{"regression_reference", "feature party column value", 0, []any{"height", nil, "height", nil}},
		{"lda_means", "class i feature party column value estimate standard_error low high population_low population_high undefined", 3, slices.Concat([]any{"well"}, inNorth, numbers)},
		{"lda_weights", "class i feature party column value estimate standard_error low high population_low population_high undefined", 1, slices.Concat([]any{"well"}, inNorth, numbers)},
		{"lda_within", "i feature_i j feature_j covariance", 1, []any{int64(0), "height", int64(1), "north: ward=n", 2.0}},
		{"lda_apart", "", 0, slices.Concat([]any{int64(0), "ill", int64(1), "well"}, numbers, numbers)},
		{"lda_model_weights", "class i feature party column value weight", 1, slices.Concat([]any{"well"}, inNorth, []any{6.0})},
		{"lda_left_out", "class", 0, []any{"dead"}},
		{"cell_means_centroids", "cluster i feature party column value estimate standard_error low high population_low population_high undefined", 3, slices.Concat([]any{int64(1)}, inNorth, numbers)},
		{"cell_means_separations", "cluster_i cluster_j estimate standard_error low high population_low population_high undefined", 0, slices.Concat([]any{int64(0), int64(1)}, numbers)},
		{"hierarchy_merges", "merge a feature_a b feature_b height standard_error size close", 0, []any{int64(0), int64(1), "north: ward=n", int64(0), "height", 0.0, 0.0, int64(0), false}},
		{"hierarchy_merges", "", 1, []any{int64(1), int64(2), "pulse", int64(3), nil, 0.0, 0.0, int64(0), false}},
		{"hierarchy_leaves", "leaf i feature party column value", 1, slices.Concat([]any{int64(1)}, inNorth)},
		{"sums_rows", "", 0, slices.Concat(inNorth, []any{"south"}, numbers, numbers)},
		{"neighbors_edges", "i feature_i j feature_j neighbors", 2, []any{int64(1), "south", int64(0), "north", int64(3)}},
		{"neighbors_nearest", "share value", 0, []any{0.5, 7.0}},
		{"classifier_confusion", "class predicted records", 1, []any{"a", "b", 2.0}},
		{"classifier_margins_quantiles", "class share value", 0, []any{"b", 0.5, 9.0}},
		{"classifier_class_planes_planes_weights", "class plane coordinate weight", 0, []any{"b", int64(0), int64(0), 8.0}},
		{"classifier_scatter_points", "point x y cluster class", 0, []any{int64(0), 1.0, 2.0, int64(1), "b"}},
	} {
		table := tables[test.table]
		var heads []string
		for _, c := range table.Columns {
			heads = append(heads, c.Name)
		}
		if got := strings.Join(heads, " "); test.columns != "" && got != test.columns {
			t.Errorf("%s has the columns\n%s, want\n%s", test.table, got, test.columns)
		}
		if len(table.Rows) <= test.row || !slices.Equal(table.Rows[test.row], test.want) {
			t.Errorf("%s: %v, want row %d to be %v", test.table, table.Rows, test.row, test.want)
		}
	}
}

// Every list of the document says what its positions are, and every list of plain values what these
// are.
func TestListsSayWhatPositionsAre(t *testing.T) {
	lists := 0
	var walk func(at string, in reflect.Type, by int)
	walk = func(at string, in reflect.Type, by int) {
		for i := range in.NumField() {
			field := in.Field(i)
			where, kind, words := at+"."+field.Name, field.Type, by
			if tag, ok := field.Tag.Lookup("by"); ok {
				words = len(strings.Split(tag, ","))
			}
			if kind == reflect.TypeFor[[]Pair]() && in == reflect.TypeFor[Analysis]() || kind == reflect.TypeFor[Feature]() {
				continue
			}
			list := false
			for ; kind.Kind() == reflect.Slice || kind.Kind() == reflect.Array || kind.Kind() == reflect.Pointer; kind = kind.Elem() {
				if kind.Kind() != reflect.Pointer {
					list = true
					if words--; words < 0 {
						t.Errorf("%s: no word says what positions in the list are", where)
					}
				}
			}
			if list {
				lists++
			}
			switch {
			case kind.Kind() == reflect.Struct && kind != reflect.TypeFor[Feature]():
				walk(where, kind, max(words, 0))
			case list && kind != reflect.TypeFor[Feature]() && field.Tag.Get("of") == "":
				t.Errorf("%s: nothing says what the values are", where)
			}
		}
	}
	walk("Result", reflect.TypeFor[Result](), 0)
	if lists < 40 {
		t.Errorf("only %d lists", lists)
	}
}
