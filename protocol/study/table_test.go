package study_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

const fewTables = "[{of: [{column: ward}]}, {of: [{column: age, edges: [18, 65]}, {column: smoker}]}, {of: [{column: income}], depth: 6}]"

// A table analysis uses all tables without depth, or those that it names.
func TestTablesAreChosen(t *testing.T) {
	for asked, want := range map[string]string{
		"{kind: table}":                                 "",
		"{kind: table, tables: [[age, smoker]]}":        "tables: [[age, smoker]]",
		"{kind: table, tables: [[ward]], threshold: 5}": "tables: [[ward]], threshold: 5",
	} {
		s, err := withCounts(t, fewTables, "{kind: mean} -> {kind: mean}, "+asked)
		if err != nil {
			t.Fatalf("%s: %v", asked, err)
		}
		if got := s.Analyses[1].Options.String(); got != want {
			t.Errorf("%s: options %q, want %q", asked, got, want)
		}
		if at, ok := s.SketchFor(s.Analyses[1]); !ok || at != 1 || !s.Analyses[1].Kind.Known() {
			t.Errorf("%s: answered by sketch %d, %t", asked, at, ok)
		}
	}
	for asked, says := range map[string]string{
		"{kind: table, tables: [[smoker, age]]}": "with tables, without depth, of smoker by age",
		"{kind: table, tables: [[income]]}":      "with tables, without depth, of income",
		"{kind: table, threshold: 0}":            "not between 1 and 1000000",
		"{kind: table, tables: [ward]}":          "list",
	} {
		_, err := withCounts(t, fewTables, "{kind: mean} -> {kind: mean}, "+asked)
		var all schema.Errors
		if !errors.As(err, &all) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", asked, err, says)
		}
	}
	if _, err := withCounts(t, "[{of: [{column: income}], depth: 6}]", "{kind: mean} -> {kind: table}"); err == nil || !strings.Contains(err.Error(), "a table without depth") {
		t.Errorf("of trees alone: %v", err)
	}
	s, err := withCounts(t, fewTables, "")
	if err != nil {
		t.Fatal(err)
	}
	bare := study.Analysis{Kind: study.CountsTable}
	if _, ok := s.SketchFor(bare); !ok {
		t.Error("tables cannot be asked for afterwards")
	}
}
