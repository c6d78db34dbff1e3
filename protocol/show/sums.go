package show

import (
	"slices"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofSums() kind {
	return kind{name: study.Sums, own: func(s *section) { show(s.a.Sums, s.sums) }}
}

// sums shows the sums and means of columns over the records that two parties share.
func (s *section) sums(sums analysis.Sums) {
	s.skip("sums_rows")
	var drawn []block.ForestRow
	var features, shared []string
	for _, row := range sums.Rows {
		f := s.a.Features[row.Feature]
		name, over := f.Name(), "all parties"
		switch {
		case row.Over == f.Party && f.Party != "":
			over = f.Party
		case row.Over != "":
			name, over = name+", with "+row.Over, f.Party+" and "+row.Over
		}
		drawn = append(drawn, block.ForestRow{Name: name, Number: row.Mean.Shown()})
		features, shared = append(features, f.Name()), append(shared, over)
	}
	s.forest("means", "Means of the columns", block.Forest{Rows: drawn, Common: ofOneSize(drawn)})
	for _, of := range []struct {
		name, caption string
		number        func(analysis.SumRow) analysis.Number
	}{{"mean", "Means", func(r analysis.SumRow) analysis.Number { return r.Mean }}, {"sum", "Sums", func(r analysis.SumRow) analysis.Number { return r.Sum }}} {
		var rows []block.ForestRow
		for i, row := range sums.Rows {
			rows = append(rows, block.ForestRow{Name: features[i], Number: of.number(row).Shown()})
		}
		t := estimates("column", of.name, rows)
		t.Caption = of.caption
		t.Columns = slices.Insert(t.Columns, 1, block.Words("over the records of"))
		for i := range t.Rows {
			t.Rows[i] = slices.Insert(t.Rows[i], 1, block.Cell{Text: shared[i]})
		}
		s.tables = append(s.tables, t)
	}
}
