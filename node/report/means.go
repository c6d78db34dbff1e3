package report

import (
	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// means draws the means of columns.
func (s *Section) means(id string, a analysis.Analysis) {
	s.skip("means")
	var entries []entry
	for i, n := range a.Means[:min(len(a.Means), len(a.Features))] {
		entries = append(entries, entry{name: a.Features[i].Name(), Number: n})
	}
	s.Figures = append(s.Figures, forest(id+"-means", "Means of the columns", entries, ofOneSize(entries), ""))
	g := Grid{Caption: "Means", Columns: []GridColumn{{"column", false}, {"mean, " + analysis.ForRecords, true}, {analysis.ForPeople, true}}}
	for _, e := range entries[:min(len(entries), mostRows)] {
		g.Rows = append(g.Rows, []string{e.name, numberOrWhy(e.Number), peopleText(e.Number)})
	}
	g.Omitted = len(entries) - len(g.Rows)
	s.table(g)
	s.Notes = append(s.Notes, a.Amounts(figure.Interval)...)
}

// sums draws the means of columns over the records that two parties share, and lists the
// sums with them.
func (s *Section) sums(id string, a analysis.Analysis) {
	s.skip("sums_rows")
	var entries []entry
	g := Grid{Caption: "Sums and means", Columns: []GridColumn{{"column", false}, {"over the records of", false}, {"sum, " + analysis.ForRecords, true}, {analysis.ForPeople, true}, {"mean, " + analysis.ForRecords, true}, {analysis.ForPeople, true}}}
	for _, row := range a.Sums.Rows {
		f := a.Features[row.Feature]
		name, over := f.Name(), "all parties"
		switch {
		case row.Over == f.Party && f.Party != "":
			over = f.Party
		case row.Over != "":
			name, over = name+", with "+row.Over, f.Party+" and "+row.Over
		}
		entries = append(entries, entry{name: name, Number: row.Mean})
		if len(g.Rows) < mostRows {
			g.Rows = append(g.Rows, []string{f.Name(), over, numberOrWhy(row.Sum), peopleText(row.Sum), numberOrWhy(row.Mean), peopleText(row.Mean)})
		}
	}
	g.Omitted = len(entries) - len(g.Rows)
	s.Figures = append(s.Figures, forest(id+"-means", "Means of the columns", entries, ofOneSize(entries), ""))
	s.table(g)
}
