package analysis

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/study"
)

// CrossTables is the section of table.
//
//section:tables,by=table of table
type CrossTables []CrossTable

// CrossTable counts records by the cells of one column, or of two crossed columns. For one column
// each cell is a row, and there is one column of numbers.
type CrossTable struct {
	RowsOf    string        `json:"rows_of"`                             // the study's column whose cells are rows
	ColumnsOf string        `json:"columns_of,omitempty"`                // the study's column whose cells are columns
	Records   int64         `json:"records"`                             // number of records of all parties, which is public
	Threshold int           `json:"threshold,omitempty"`                 // cells with fewer records are not shown
	Rows      []string      `json:"rows" by:"-" of:"row"`                // cells of the column: its values, ranges of numbers, or (missing)
	Columns   []string      `json:"columns,omitempty" by:"-" of:"cells"` // cells of the other column
	Cells     [][]TableCell `json:"cells" by:"rows,columns"`             // by row and column
	V         Number        `json:"v,omitzero"`                          // Cramér's V, the association of the two columns without missing values: 0 none, 1 complete
	LeftOut   []string      `json:"left_out,omitempty" by:"-" of:"row"`  // rows and columns left out of V, because their records do not stand out of the noise
}

// TableCell is a cell of such a table.
type TableCell struct {
	Count    Number `json:"count"`              // number of records
	OfRow    Number `json:"of_row,omitzero"`    // share of its row's records; crossed columns only
	OfColumn Number `json:"of_column,omitzero"` // share of its column's records; for one column, of all records
}

func (ts CrossTables) check(Analysis) error {
	for i, t := range ts {
		if err := t.sound(); err != nil {
			return fmt.Errorf("table %d: %w", i+1, err)
		}
	}
	return nil
}

// crossed reports whether the table is of two columns.
func (t CrossTable) crossed() bool { return t.ColumnsOf != "" }

func (t CrossTable) sound() error {
	columns := len(t.Columns)
	if !t.crossed() {
		columns = 1
	}
	if t.RowsOf == "" || len(t.Rows) == 0 || len(t.Cells) != len(t.Rows) || columns == 0 || !t.crossed() && len(t.Columns) > 0 {
		return fmt.Errorf("%d rows of cells of %d rows and %d columns", len(t.Cells), len(t.Rows), len(t.Columns))
	}
	numbers := t.people()
	if t.crossed() {
		numbers = append(numbers, t.V)
	}
	for i, row := range t.Cells {
		if len(row) != columns {
			return fmt.Errorf("row %d has %d cells of %d", i+1, len(row), columns)
		}
	}
	for _, n := range numbers {
		if err := n.check(); err != nil {
			return err
		}
	}
	return nil
}

func (t CrossTable) people() (out []Number) {
	for _, row := range t.Cells {
		for _, cell := range row {
			out = append(out, cell.Count, cell.OfColumn)
			if t.crossed() {
				out = append(out, cell.OfRow)
			}
		}
	}
	return out
}

func (ts CrossTables) people() (out []Number) {
	for _, t := range ts {
		out = append(out, t.people()...)
	}
	return out
}

func (CrossTables) covers() string { return "the noise" }

func (ts CrossTables) nothing() string {
	cells := 0
	for _, t := range ts {
		for _, row := range t.Cells {
			if slices.ContainsFunc(row, func(c TableCell) bool { return c.Count.ExcludesZero() }) {
				return ""
			}
			cells += len(row)
		}
	}
	return fmt.Sprintf("0 of %d cells clearly have any records", cells)
}

func (ts CrossTables) names(n named) error {
	for _, t := range ts {
		if err := n.cells(t.RowsOf, t.Rows); err != nil {
			return err
		}
		if err := n.cells(t.ColumnsOf, t.Columns); err != nil {
			return err
		}
	}
	return nil
}

// crossTables answers the tables of a sketch that the analysis asks for.
func (c *counts) crossTables(ctx context.Context, a study.Analysis, out *Analysis) error {
	o, ok := a.Options.(study.TableOptions)
	if a.Options != nil && !ok {
		return fmt.Errorf("options of kind %T", a.Options)
	}
	level := out.promise(a, TableIntervals(c.plan.Study, a))
	for _, t := range c.tables {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !o.Asks(t.Table) {
			continue
		}
		table, err := c.crossTable(t, o.Threshold, level)
		if err != nil {
			return err
		}
		out.CrossTables = append(out.CrossTables, table)
	}
	return nil
}

// TableIntervals returns how many intervals the tables have that an analysis asks for.
func TableIntervals(s *study.Study, a study.Analysis) (n int) {
	eachTable(s, a, func(t study.Table, cells int) {
		if n += 2 * cells; len(t.Of) == 2 {
			n += cells + 1
		}
	})
	return n
}

// eachTable calls take with each table that an analysis asks for, and its number of cells.
func eachTable(s *study.Study, a study.Analysis, take func(t study.Table, cells int)) {
	o, _ := a.Options.(study.TableOptions)
	index, ok := s.SketchFor(a)
	if !ok {
		return
	}
	for i, table := range s.CountTables(index) {
		if t := s.Sketches[index].Tables[i]; o.Asks(t) {
			take(t, table.Cells())
		}
	}
}

func (c *counts) crossTable(t counted, threshold int, level estimate.Level) (CrossTable, error) {
	rows := c.axis(t, 0)
	out := CrossTable{RowsOf: t.Of[0].Column, Records: int64(c.records), Threshold: threshold, Rows: axisNames(rows)}
	columns := []study.AxisCell{{}}
	if len(t.Of) == 2 {
		columns = c.axis(t, 1)
		out.ColumnsOf, out.Columns = t.Of[1].Column, axisNames(columns)
	}
	cells, err := estimate.NewCounted(t.cells, len(rows), len(columns), c.noise, c.records, level)
	if err != nil {
		return out, err
	}
	for i := range rows {
		var row []TableCell
		for j := range columns {
			count := cells.Cell(i, j)
			if threshold > 0 && count.Interval.Estimate < float64(threshold) {
				hidden := Number{Undefined: fmt.Sprintf("fewer than %d", threshold)}
				row = append(row, TableCell{Count: hidden, OfColumn: hidden})
				if out.crossed() {
					row[j].OfRow = hidden
				}
				continue
			}
			row = append(row, TableCell{Count: number(count), OfColumn: number(cells.OfColumn(i, j))})
			if out.crossed() {
				row[j].OfRow = number(cells.OfRow(i, j))
			}
		}
		out.Cells = append(out.Cells, row)
	}
	if out.crossed() {
		present := func(cells []study.AxisCell) int {
			return len(slices.DeleteFunc(slices.Clone(cells), func(c study.AxisCell) bool { return c.Absent }))
		}
		r, s := present(rows), present(columns)
		with := cells.Associated(r, s)
		out.V = number(with.V)
		out.LeftOut = slices.Concat(without(out.Rows[:r], with.Rows), without(out.Columns[:s], with.Columns))
	}
	return out, nil
}

// without returns the names except those at these positions.
func without(names []string, at []int) (out []string) {
	for i, name := range names {
		if !slices.Contains(at, i) {
			out = append(out, name)
		}
	}
	return out
}

// tableCells returns the number of cells of these tables.
func tableCells(t *taken) (all int64) {
	eachTable(t.study, t.asked, func(_ study.Table, cells int) { all += int64(cells) })
	return all
}

func ofCrossTables() kind {
	return kind{
		name: study.CountsTable, ways: []way{onCounts((*counts).crossTables)},
		size: func(t *taken) Size { return numbers(3 * tableCells(t)) },
		most: func(t *taken) int64 {
			return plus(mostNumbers(3, tableCells(t)), times(longestName(t.study), 3*tableCells(t)))
		},
	}
}
