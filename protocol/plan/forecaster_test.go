package plan

import (
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// Every kind of analysis has one forecaster for each side that answers it, with all that plans
// need. Only record-distance has none: its records are chosen once there are some.
func TestEveryKindHasAForecast(t *testing.T) {
	for _, name := range study.Kinds() {
		kind, _ := study.KindOf(name)
		for _, needs := range kind.Needs(nil) {
			var met []forecaster
			for _, row := range forecasters() {
				if row.kind == name && (row.by(needs.Side) != nil || row.outright != nil) {
					met = append(met, row)
				}
			}
			if name == study.RecordDistance && len(met) == 0 {
				continue
			}
			if len(met) != 1 {
				t.Errorf("%s by side %s has %d rows", name, needs.Side, len(met))
				continue
			}
			if row := met[0]; row.outright == nil && (row.measure == "" || row.usable == nil || row.worth == nil) {
				t.Errorf("the row of %s by side %s lacks something", name, needs.Side)
			}
		}
	}
	for _, row := range forecasters() {
		if !row.kind.Known() {
			t.Errorf("%s has a row, and is no kind", row.kind)
		}
	}
}

// Every additive is for a side that sums over records, and no side has two.
func TestSidesThatSumHaveOneRow(t *testing.T) {
	var met []sketch.Side
	for _, row := range additives() {
		if !row.side.Sums() || slices.Contains(met, row.side) {
			t.Errorf("side %s has a row: twice, or it does not sum", row.side)
		}
		met = append(met, row.side)
	}
}

// A study of one column has no pair of columns to compare, by sums of records as by projections.
func TestOneColumnHasNoPair(t *testing.T) {
	const column = "{name: age, kind: numeric, bounds: [0, 100]}"
	for _, sketch := range []string{"{side: moments, clip: 1}", "{side: columns, family: sparse, k: 100, helpers: {ones: 0.3}, clip: 1}"} {
		p := planOf(t, moments(column, sketch, "{kind: correlation}"))
		if got := p.Sketches[0].Analyses[0]; got.Outcome != NoPair || got.Chosen.Method != "" {
			t.Errorf("%s: %s, %+v", sketch, got.Verdict, got.Chosen)
		}
	}
}

// Clusters of cells depend on unknown spreads only if these decide whether they are usable. They do
// not if noise hides the record counts, however records are spread.
func TestClustersHingeOnWhatDecides(t *testing.T) {
	columns := repeated(12, "numeric, bounds: [0, 1]")
	p := planOf(t, moments(columns, "{side: cells, L: 9, clip: 2}", "{kind: k-means, clusters: 2}"), func(o *Options) {
		o.Records = map[string]int64{"": 150}
	})
	if got := p.Sketches[0].Analyses[0]; got.Outcome != TooWide || got.Chosen.AtBest.StandardError > 1 || len(got.Chosen.UnknownSpreads) > 0 {
		t.Errorf("%s, %+v", got.Verdict, got.Chosen)
	}
}
