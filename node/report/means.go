package report

import (
	"github.com/cosketch/cosketch/protocol/analysis"
)

// means draws the means of columns.
func (s *Section) means(id string, a analysis.Analysis) {
	var entries []entry
	for i, n := range a.Means[:min(len(a.Means), len(a.Features))] {
		entries = append(entries, entry{a.Features[i].Name(), n})
	}
	s.Figures = append(s.Figures, forest(id+"-means", "Means of the columns", entries, ofOneSize(entries), ""))
	g := Grid{Caption: "Means", Columns: []GridColumn{{"column", false}, {"mean and interval", true}}}
	for _, e := range entries[:min(len(entries), mostRows)] {
		g.Rows = append(g.Rows, []string{e.name, numberOrWhy(e.Number)})
	}
	g.Omitted = len(entries) - len(g.Rows)
	s.table(g)
}

// sums draws the means of columns over the records that two parties share, and lists the
// sums with them.
func (s *Section) sums(id string, a analysis.Analysis) {
	s.skip("sums_rows")
	var entries []entry
	g := Grid{Caption: "Sums and means", Columns: []GridColumn{{"column", false}, {"over the records of", false}, {"sum and interval", true}, {"mean and interval", true}}}
	for _, row := range a.Sums.Rows {
		f := a.Features[row.Feature]
		name, over := f.Name(), "all parties"
		switch {
		case row.Over == f.Party && f.Party != "":
			over = f.Party
		case row.Over != "":
			name, over = name+", with "+row.Over, f.Party+" and "+row.Over
		}
		entries = append(entries, entry{name, row.Mean})
		if len(g.Rows) < mostRows {
			g.Rows = append(g.Rows, []string{f.Name(), over, numberOrWhy(row.Sum), numberOrWhy(row.Mean)})
		}
	}
	g.Omitted = len(entries) - len(g.Rows)
	s.Figures = append(s.Figures, forest(id+"-means", "Means of the columns", entries, ofOneSize(entries), ""))
	s.table(g)
}
