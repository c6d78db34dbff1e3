package show

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofCountsTable() kind {
	return kind{name: study.CountsTable, title: "tables", own: func(s *section) { s.crossTables(s.a.CrossTables) }}
}

// Limits of what is drawn, and of columns side by side in a text.
const (
	mostCurves     = 6
	mostNames      = 24
	columnsInTexts = 4
)

// crossTables shows tables of counts one after the other.
func (s *section) crossTables(tables analysis.CrossTables) {
	s.skip("tables", "tables_rows", "tables_columns", "tables_cells", "tables_left_out")
	if len(tables) > 0 {
		s.heading.Says = fmt.Sprintf("%d records in %s", tables[0].Records, block.Counted(int64(len(tables)), "table", "tables"))
		s.heading.Says += dependent(tables)
	}
	if more := len(tables) - mostCounted; more > 0 {
		s.note("The first %d tables are shown; %d more are in the result's files.", mostCounted, more)
	}
	for i, t := range tables[:min(len(tables), mostCounted)] {
		name, id := tableName(t.RowsOf, t.ColumnsOf), fmt.Sprintf("table-%d", i+1)
		if t.Threshold > 0 {
			s.note("%s: cells of fewer than %d records are not shown.", name, t.Threshold)
		}
		if t.ColumnsOf == "" {
			s.oneColumn(t, id)
			continue
		}
		s.crossed(t, id)
	}
	if len(tables) > 0 {
		s.note("“At most” stands where the interval reaches down to 0, and “–” where there are too few records to say anything. Intervals in tables of two columns are %s; the result's files have those %s, too.", block.ForRecords, block.ForPeople)
	}
}

// dependent says how many tables of two columns show dependence.
func dependent(tables analysis.CrossTables) string {
	crossed, told := 0, 0
	for _, t := range tables {
		if t.ColumnsOf != "" {
			if crossed++; t.V.ExcludesZero() {
				told++
			}
		}
	}
	if crossed == 0 {
		return ""
	}
	return fmt.Sprintf("; in %d of %d the two columns clearly depend on each other", told, crossed)
}

// oneColumn shows the cells of a column: their record counts, and their shares of all records.
func (s *section) oneColumn(t analysis.CrossTable, id string) {
	var counts []block.Number
	out := block.Table{
		Caption: "Records: " + t.RowsOf, Things: "cells", Of: len(t.Rows),
		Columns: append([]block.Column{block.Words(t.RowsOf), block.Numbers("records")}, block.Estimates("share, %", true)...),
	}
	for i, row := range t.Cells {
		counts = append(counts, row[0].Count.Shown())
		if i < block.MostRows {
			out.Rows = append(out.Rows, append([]block.Cell{{Text: t.Rows[i]}, amount(counts[i], true)}, hundredth(row[0].OfColumn).Cells(true)...))
		}
	}
	if len(t.Rows) <= mostNames {
		out.HasFigure = true
		s.figure(id, block.Figure{
			Title: "Records: " + t.RowsOf, Plot: bars(t.Rows, "records", counts),
			Description: fmt.Sprintf("A bar for each of %d cells, with its interval.", len(t.Rows)), Caption: "Records by " + t.RowsOf + ". Whiskers are intervals " + block.ForRecords + ".",
		})
	}
	s.tables = append(s.tables, out)
}

// crossed shows two columns crossed: records, then shares of rows and of columns, and whether they depend on each other.
func (s *section) crossed(t analysis.CrossTable, id string) {
	name := tableName(t.RowsOf, t.ColumnsOf)
	switch v := t.V.Shown(); {
	case v.Undefined != "":
		s.note("%s: Cramér's V is undefined: %s.", name, v.Undefined)
	default:
		text := fmt.Sprintf("%s: Cramér's V, how far the two depend on each other, is %s", name, v.Long())
		if !v.ExcludesZero() {
			text += ": they may be independent"
		}
		if len(t.LeftOut) > 0 {
			text += "; without " + strings.Join(t.LeftOut, ", ") + ", whose records do not stand out of the noise"
		}
		s.note("%s.", text)
	}
	if f, ok := shares(t); ok {
		s.figure(id, f)
	}
	s.tables = append(s.tables,
		grid(t, "Records: "+name, true, func(c analysis.TableCell) block.Number { return c.Count.Shown() }),
		grid(t, fmt.Sprintf("%s, in %% of the records of each %s: rows add up to 100", name, t.RowsOf), false, func(c analysis.TableCell) block.Number { return hundredth(c.OfRow) }),
		grid(t, fmt.Sprintf("%s, in %% of the records of each %s: columns add up to 100", name, t.ColumnsOf), false, func(c analysis.TableCell) block.Number { return hundredth(c.OfColumn) }))
}

// grid returns the cells of a table in rows and columns.
func grid(t analysis.CrossTable, caption string, whole bool, of func(analysis.TableCell) block.Number) block.Table {
	const most = 20
	shown := min(len(t.Columns), most)
	out := block.Table{Caption: caption, Things: "rows", Of: len(t.Rows), Columns: []block.Column{block.Words(t.RowsOf)}}
	if shown < len(t.Columns) {
		out.Caption += fmt.Sprintf(" (the first %d of %d; the result's files have all)", shown, len(t.Columns))
	}
	for j, name := range t.Columns[:shown] {
		out.Columns = append(out.Columns, block.Column{Name: name, Number: true, PageOnly: j >= columnsInTexts})
	}
	for i, row := range t.Cells[:min(len(t.Cells), block.MostRows)] {
		cells := block.Cells(t.Rows[i])
		for _, c := range row[:shown] {
			cells = append(cells, amount(of(c), whole))
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// shares draws the shares of rows, one curve for each column, or the reverse if there are fewer
// rows.
func shares(t analysis.CrossTable) (block.Figure, bool) {
	within, names, curves := t.RowsOf, t.Rows, t.Columns
	of := func(at, curve int) analysis.Number { return t.Cells[at][curve].OfRow }
	if len(t.Rows) < len(t.Columns) {
		within, names, curves = t.ColumnsOf, t.Columns, t.Rows
		of = func(at, curve int) analysis.Number { return t.Cells[curve][at].OfColumn }
	}
	if len(curves) > mostCurves || len(names) > mostNames {
		return block.Figure{}, false
	}
	plot := block.Chart{
		Height: 240, Width: max(260, min(760, 60*float64(len(names)))), Names: names,
		Y: block.Dimension{Label: "share of the records of each " + within + ", %", Include: []float64{0, 100}},
	}
	for j, name := range curves {
		curve := block.Curve{Name: name, Look: block.Marks}
		for i := range names {
			n := hundredth(of(i, j))
			if p := block.PointOf(float64(i)+0.1*(float64(j)-float64(len(curves)-1)/2), n); n.Undefined == "" {
				p.Title = fmt.Sprintf("%s, %s: %s %%", names[i], name, n.Long())
				curve.Points = append(curve.Points, p)
			}
		}
		plot.Curves = append(plot.Curves, curve)
	}
	return block.Figure{
		Title: "Shares by " + tableName(t.RowsOf, t.ColumnsOf), Plot: plot,
		Description: fmt.Sprintf("For each of %d cells of %s, the shares of %d others, with intervals.", len(names), within, len(curves)),
		Caption:     "A mark is the share of the records with this value of " + t.RowsOf + " that have that value of " + t.ColumnsOf + ". Whiskers are intervals " + block.ForRecords + ".",
	}, true
}
