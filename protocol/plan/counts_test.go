package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
)

// A study with counts has a plan, which gives their size even if no analysis uses them.
func TestCountsHaveAPlan(t *testing.T) {
	s := parse(t, `partition: horizontal
records: {id: [patient], missing: count}
columns:
  - {name: age, kind: numeric, bounds: [0, 100]}
  - {name: ward, kind: categorical, values: [a, b, c]}
sketches:
  - {side: moments, clip: whole}
  - {side: counts, tables: [{of: [{column: age}], depth: 6}, {of: [{column: ward}]}]}
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: mean}]
`)
	p, err := Make(Options{Study: s, Party: 0, Records: map[string]int64{"": 5000}})
	if err != nil {
		t.Fatal(err)
	}
	got := p.Sketches[1]
	cells := int64(2 + 4 + 8 + 16 + 32 + 64 + 6 + 4)
	if got.Side != sketch.Counts || got.Bytes < 2*cells || got.Bytes > 4*cells || got.Clipped != 0 || len(got.Analyses) != 0 {
		t.Errorf("%+v of %d cells", got, cells)
	}
}

// Answers from counts are usable or not, by their noise. A plan says how well cells and ranks are
// known, and at which ε or with how many records they would be usable; or that more bins are needed
// if noise is not the cause.
func TestCountsAreForecast(t *testing.T) {
	const terms = `partition: horizontal
records: {id: [patient], missing: count}
columns:
  - {name: age, kind: numeric, bounds: [0, 100]}
  - {name: stay, kind: numeric, bounds: [0, 100]}
  - {name: ward, kind: categorical, values: [a, b, c]}
sketches: [{side: counts, tables: [{of: [{column: age}], depth: 8}, {of: [{column: stay, bins: 2}]}, {of: [{column: ward}, {column: stay, bins: 4}]}]}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: table, intervals: all}, {kind: quantile, columns: [age]}, {kind: quantile, columns: [stay]}]
`
	of := func(records int64) []Analysis {
		p, err := Make(Options{Study: parse(t, terms), Party: 0, Records: map[string]int64{"": records}})
		if err != nil {
			t.Fatal(err)
		}
		return p.Sketches[0].Analyses
	}
	many := of(5000)
	// Two parties' noise of ten tables, of 20 cells of 500 records: 3 and 4, and one for the absent
	// each.
	sd := math.Sqrt(2*10) / 0.2367 * math.Sqrt(1-1./20) / 500
	if a := many[0]; a.Outcome != Usable || math.Abs(a.Chosen.StandardError/sd-1) > 0.02 || a.Together != 2*3+3*20+1 || a.Chosen.HalfWidth < 3*a.Chosen.StandardError {
		t.Errorf("table: %+v, want a standard error of %v", a, sd)
	}
	if a := many[1]; a.Outcome != Usable || a.Chosen.StandardError < 0.001 || a.Chosen.StandardError > 0.003 || a.Chosen.HalfWidth > 0.01 {
		t.Errorf("quantile by a tree: %+v", a)
	}
	if a := many[2]; a.Outcome != TooWide || !strings.Contains(a.Verdict, "more bins help") || a.Needs == nil || a.Needs.Epsilon != 0 {
		t.Errorf("quantile by two bins: %+v", a)
	}
	few := of(30)
	if a := few[0]; a.Outcome != TooWide || a.Needs == nil || a.Needs.Records < 100 || a.Needs.Epsilon <= 1 {
		t.Errorf("table of few records: %+v", a)
	}
	if a := few[1]; a.Outcome != TooWide || a.Needs == nil || a.Needs.Records < 50 || a.Needs.Epsilon <= 1 {
		t.Errorf("quantile of few records: %+v", a)
	}
}
