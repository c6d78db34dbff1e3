package study_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// Quantiles use the tree of a column, or else its bins, and are refused for a column that has
// neither.
func TestQuantilesAreChosen(t *testing.T) {
	const tables = "[{of: [{column: age, bins: 8}]}, {of: [{column: age}], depth: 5}, {of: [{column: score, edges: [9, 11]}]}, {of: [{column: income, bins: 4}, {column: ward}]}]"
	s, err := withCounts(t, tables, "{kind: mean} -> {kind: quantile}, {kind: quantile, columns: [score], at: [0.9]}")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"at: [0.25, 0.5, 0.75]", "columns: [score], at: [0.9]"} {
		if got := s.Analyses[i].Options.String(); got != want {
			t.Errorf("options %q, want %q", got, want)
		}
	}
	o := s.Analyses[0].Options.(study.QuantileOptions)
	if got := o.Tables(s.Sketches[1].Tables); len(got) != 2 || got[0] != 1 || got[1] != 2 {
		t.Errorf("tables %v", got)
	}
	edges, open := s.Edges(1, s.Sketches[1].Tables[1])
	if len(edges) != 33 || edges[0] != 0 || edges[32] != 100 || open || edges[16] > 50 || edges[16] < 49.99 {
		t.Errorf("edges %v, open %t", edges, open)
	}
	if edges, open := s.Edges(1, s.Sketches[1].Tables[2]); len(edges) != 4 || edges[0] != 4 || edges[3] != 16 || !open {
		t.Errorf("edges %v, open %t", edges, open)
	}
	for asked, says := range map[string]string{
		"{kind: quantile, columns: [income]}":   "tables of one number, with depth or bins, of income",
		"{kind: quantile, columns: [ward]}":     "categorical, and has no quantiles",
		"{kind: quantile, columns: [age, age]}": "appears twice",
		"{kind: quantile, columns: [height]}":   "no column",
		"{kind: quantile, at: [1]}":             "not between 0 and 1",
		"{kind: quantile, at: [0.5, 0.2]}":      "not above the one before",
		"{kind: quantile, at: []}":              "at least 1",
		"{kind: quantile, threshold: 3}":        "an option of table",
	} {
		_, err := withCounts(t, tables, "{kind: mean} -> {kind: mean}, "+asked)
		var all schema.Errors
		if !errors.As(err, &all) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", asked, err, says)
		}
	}
}
