package show

import (
	"slices"
	"strings"

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

// fewMeans states the means in a line, or says how many there are.
func fewMeans(rows []block.ForestRow) string {
	const few = 3
	if len(rows) > few {
		return block.Counted(int64(len(rows)), "mean", "means")
	}
	var out []string
	for _, r := range rows {
		number, between := r.Number.Parts()
		out = append(out, strings.TrimSpace(r.Name+" "+number+" "+between))
	}
	return strings.Join(out, ", ")
}

// means shows the means of columns, in their order.
func (s *section) means(m analysis.Means) {
	s.skip("means", "means_dates")
	var rows []block.ForestRow
	for i, n := range m {
		rows = append(rows, block.ForestRow{Name: s.a.Features[i].Name(), Number: n.Shown()})
	}
	s.heading.Says = fewMeans(rows)
	drawn := slices.DeleteFunc(slices.Clone(rows), func(r block.ForestRow) bool { return r.Date }) // a date has no size to draw
	if len(drawn) > 0 || len(rows) == 0 {
		s.forest("means", "Means of the columns", block.Forest{Rows: drawn, Common: ofOneSize(drawn)})
	}
	t := estimates("column", "mean", rows)
	t.Caption, t.Things = "Means", "means"
	s.tables = append(s.tables, t)
	s.notes = append(s.notes, s.a.Amounts(block.Interval)...)
}
