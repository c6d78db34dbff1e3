package study_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// withCounts returns a horizontal study of moments and of counts by tables.
func withCounts(t *testing.T, tables, changes string) (*study.Study, error) {
	t.Helper()
	source := hospitalsHead(t) + `partition: horizontal
records: {id: [patient]}
columns:
  - {name: age, kind: numeric, bounds: [0, 100]}
  - {name: score, kind: numeric, centre: 10, spread: 2}
  - {name: income, kind: numeric, bounds: [1, 1000000], transform: log}
  - {name: smoker, kind: binary}
  - {name: ward, kind: categorical, values: [a, b, c], role: label}
sketches:
  - {side: moments, clip: 1.5}
  - {side: counts, tables: ` + tables + `}
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: mean}]
`
	for change := range strings.SplitSeq(changes, "; ") {
		if from, to, ok := strings.Cut(change, " -> "); ok {
			if !strings.Contains(source, from) {
				t.Fatalf("no %q in the study", from)
			}
			source = strings.Replace(source, from, to, 1)
		}
	}
	return studyfile.Parse([]byte(source))
}

// hospitalsHead returns the first part of the hospitals study: parties and dates.
func hospitalsHead(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(source), "partition:")
	return head + "expires: 2026-12-01T17:00:00Z\ndeadline: 2026-12-15T17:00:00Z\n"
}

func TestCountsAreRead(t *testing.T) {
	s, err := withCounts(t, "[{of: [{column: ward}]}, {of: [{column: age, edges: [18, 65]}, {column: smoker}]}, {of: [{column: score, bins: 4}]}, {of: [{column: income}], depth: 2}]", "id: [patient] -> id: [patient], missing: count; analyses -> bits: 8\nanalyses")
	if err != nil {
		t.Fatal(err)
	}
	one := s.ReadBits().One()
	number := func(at int, edges ...int64) sketch.CountAxis {
		return sketch.CountAxis{At: at, Entries: 1, Edges: edges, Absent: true}
	}
	ward := sketch.CountAxis{At: 4, Entries: 3, Absent: true}
	want := []sketch.CountTable{
		{Axes: []sketch.CountAxis{ward}},
		{Axes: []sketch.CountAxis{number(0, (18*one+50)/100, (65*one+50)/100), number(3, one)}},
		{Axes: []sketch.CountAxis{number(1, -one/2, 0, one/2)}},
		{Axes: []sketch.CountAxis{number(2, one/4, one/2, 3*one/4)}, Depth: 2},
	}
	if got := s.CountTables(1); !reflect.DeepEqual(got, want) {
		t.Errorf("tables %+v\nwant %+v", got, want)
	}
	if tables, cells := s.CountSize(1); tables != 5 || cells != 4+12+5+3+5 || s.Sketches[1].Projection.K != cells {
		t.Errorf("%d tables of %d cells, k = %d", tables, cells, s.Sketches[1].Projection.K)
	}
	if text := strings.Join(strings.Fields(explained(s, 0)), " "); !strings.Contains(text, "ward, age by smoker, score") || !strings.Contains(text, "Counts have cells of their own for absent values") {
		t.Errorf("stewards are told:\n%s", text)
	}
}

// What cannot be counted is refused when the study is read, at its place; what is too large, with
// its cost.
func TestCountsAreRefused(t *testing.T) {
	age := "[{of: [{column: age, bins: 10}]}]"
	many := "[{of: [{column: age, bins: 4096}, {column: score, bins: 255}]}, {of: [{column: age, bins: 4096}, {column: ward}]}]"
	for _, c := range []struct{ tables, changes, key, says string }{
		{"[]", "", "tables", "lists no table"},
		{"[{of: []}]", "", "tables[0].of", "lists no column"},
		{"[{of: [{column: height}]}]", "", "of[0].column", `"height" is no column`},
		{"[{of: [{column: ward}, {column: ward}]}]", "", "of[1].column", "crossed with itself"},
		{"[{of: [{column: age}]}]", "", "of[0]", "cut by bins, by edges or by the depth"},
		{"[{of: [{column: age, bins: 3, edges: [4]}]}]", "", "of[0]", "one of the three"},
		{"[{of: [{column: age, bins: 5000}]}]", "", "of[0].bins", "not between 2 and 4096"},
		{"[{of: [{column: age, bins: 1000000000}]}]", "", "of[0].bins", "not between 2 and 4096"},
		{"[{of: [{column: age, edges: [18, 18]}]}]", "", "edges[1]", "not above the edge before"},
		{"[{of: [{column: age, edges: [100]}]}]", "", "edges[0]", "not between 0 and 100"},
		{"[{of: [{column: income, edges: [-5]}]}]", "", "edges[0]", "not between 1 and 1e+06"},
		{"[{of: [{column: age, edges: [18, 18.0000001]}]}]", "", "of[0]", "narrower than a step"},
		{"[{of: [{column: ward, bins: 2}]}]", "", "of[0].bins", "a categorical column has a cell for each value"},
		{"[{of: [{column: ward}], depth: 3}]", "", "depth", "a single column of numbers"},
		{"[{of: [{column: age}], depth: 40}]", "", "depth", "want 1 to 12"},
		{many, "", "tables[1]", "MB; at most 256 tables and 1048576 cells"},
		{"[" + strings.Repeat("{of: [{column: smoker}]}, ", 256) + "{of: [{column: smoker}]}]", "", "tables", "at most 256"},
		{age, "id: [patient] -> id: [patient], missing: centre", "missing", "refused beside counts"},
		{age, "unit: record -> unit: attribute; {side: moments, clip: 1.5} -> {side: columns, family: sparse, k: 64}", "side", "refused under unit attribute"},
		{"[{of: [{column: ward}]}]", "values: [a, b, c] -> values: []", "values", "at least 2 are needed"},
		{"[{of: [{column: ward}]}]", "name: smoker -> name: ward; values: [a, b, c] -> values: []", "name", "is the name of"},
		{age, "kind: numeric, bounds: [0, 100] -> kind: numeric", "columns[0]", "needs bounds"},
		{age, "horizontal -> vertical", "owner", "is missing"}, // and nothing panics on the way
		{age, "tables: -> clip: 2, tables:", "clip", "each counts as one"},
		{age, "moments, clip: 1.5 -> moments, tables: [], clip: 1.5", "tables", "belongs to side counts"},
	} {
		_, err := withCounts(t, c.tables, c.changes)
		var all schema.Errors
		errors.As(err, &all)
		found := false
		for _, e := range all {
			found = found || strings.HasSuffix(e.Key, c.key) && strings.Contains(e.Message, c.says)
		}
		if !found {
			t.Errorf("%s, %s: want %q at %q, have %v", shortened(c.tables), c.changes, c.says, c.key, err)
		}
	}
}

func shortened(s string) string { return fmt.Sprintf("%.80s", s) }

// Studies with different counts have different meanings.
func TestCountsAreInTheMeaning(t *testing.T) {
	seen := map[string]string{}
	for _, tables := range []string{
		"[{of: [{column: age, bins: 10}]}]", "[{of: [{column: age, bins: 11}]}]", "[{of: [{column: age, edges: [50]}]}]", "[{of: [{column: age, edges: [51]}]}]",
		"[{of: [{column: score, bins: 10}]}]", "[{of: [{column: age}], depth: 3}]", "[{of: [{column: age}], depth: 4}]",
		"[{of: [{column: ward}]}, {of: [{column: smoker}]}]", "[{of: [{column: smoker}]}, {of: [{column: ward}]}]",
		"[{of: [{column: ward}, {column: smoker}]}]", "[{of: [{column: smoker}, {column: ward}]}]",
	} {
		s, err := withCounts(t, tables, "")
		if err != nil {
			t.Fatal(err)
		}
		meaning := fmt.Sprint(s.Meaning)
		if other, met := seen[meaning]; met {
			t.Errorf("%s and %s mean the same", tables, other)
		}
		seen[meaning] = tables
	}
}
