package show

import (
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofMean() kind {
	return kind{name: study.Mean, own: func(s *section) {
		if s.a.Means != nil {
			s.means(s.a.Means)
		}
	}}
}

// means shows the means of columns, in their order.
func (s *section) means(m analysis.Means) {
	s.skip("means")
	var rows []block.ForestRow
	for i, n := range m {
		rows = append(rows, block.ForestRow{Name: s.a.Features[i].Name(), Number: n.Shown()})
	}
	s.forest("means", "Means of the columns", block.Forest{Rows: rows, Common: ofOneSize(rows)})
	t := estimates("column", "mean", rows)
	t.Caption, t.Things = "Means", "means"
	s.tables = append(s.tables, t)
	s.notes = append(s.notes, s.a.Amounts(block.Interval)...)
}
