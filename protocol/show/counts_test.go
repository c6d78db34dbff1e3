package show

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// within returns a number with its interval.
func within(estimate, low, high float64) analysis.Number {
	deviation := (high - low) / 4
	return analysis.Number{Estimate: &estimate, StandardError: &deviation, Low: &low, High: &high}
}

// parts returns the figures, tables and texts of blocks.
func parts(blocks []block.Block) (figures []block.Figure, tables map[string]block.Table, text string) {
	tables = map[string]block.Table{}
	for _, b := range blocks {
		switch b := b.(type) {
		case block.Figure:
			figures = append(figures, b)
		case block.Table:
			tables[b.Caption] = b
		case block.Text:
			text += b.Text + "\n"
		}
	}
	return figures, tables, text
}

// A crossed table is drawn, and has grids of records and of both shares. Cells that may be empty
// give an upper limit; hidden and undefined ones are marked.
func TestTablesOfCountsAreShown(t *testing.T) {
	hidden := analysis.Number{Undefined: "fewer than 10"}
	cell := func(n analysis.Number, row, column analysis.Number) analysis.TableCell {
		return analysis.TableCell{Count: n, OfRow: row, OfColumn: column}
	}
	a := analysis.Analysis{Kind: study.CountsTable, Sections: analysis.Sections{CrossTables: analysis.CrossTables{
		{
			RowsOf: "ward", ColumnsOf: "smoker", Records: 900, Threshold: 10, Rows: []string{"a", "b"}, Columns: []string{"0", "1", "(missing)"}, LeftOut: []string{"b"},
			Cells: [][]analysis.TableCell{
				{cell(within(700, 680, 720), within(.9, .88, .92), within(.8, .7, .9)), cell(within(5, 0, 24.2), within(.01, 0, .0312), within(.5, .2, .8)), cell(hidden, hidden, hidden)},
				{cell(within(100, 80, 120), within(.9, .5, 1), within(.2, .1, .3)), cell(within(30, 10, 50), within(.1, 0, .3), within(.5, .2, .8)), cell(hidden, hidden, hidden)},
			},
			V: within(.2, 0, .4),
		},
		{RowsOf: "ward", Records: 900, Rows: []string{"a", "b"}, Cells: [][]analysis.TableCell{{{Count: within(700, 680, 720), OfColumn: within(.78, .76, .8)}}, {{Count: within(0, 0, 9.1), OfColumn: within(0, 0, .01)}}}},
	}}}
	figures, tables, text := parts(Analysis("x", a, nil))
	if len(figures) != 2 || len(tables) != 4 {
		t.Fatalf("%d figures and %d tables: %v", len(figures), len(tables), tables)
	}
	if got := texts(tables["Records: ward by smoker"].Rows[0]); got != "a|700 [680, 720]|at most 25|–" {
		t.Errorf("records %q", got)
	}
	if got := texts(tables["ward by smoker, in % of the records of each ward: rows add up to 100"].Rows[0]); got != "a|90.0 [88.0, 92.0]|at most 3.2|–" {
		t.Errorf("shares %q", got)
	}
	if got := texts(tables["Records: ward"].Rows[1]); got != "b|at most 10|0.0|[0.0, 1.0]|" {
		t.Errorf("one column %q", got)
	}
	for _, says := range []string{"they may be independent", "without b, whose records do not stand out", "fewer than 10 records are not shown"} {
		if !strings.Contains(text, says) {
			t.Errorf("%q is not in\n%s", says, text)
		}
	}
}

// Quantiles are a table and histograms: on a logarithmic axis, or bar by bar if bins have very
// different widths.
func TestQuantilesAreShown(t *testing.T) {
	bars := func(edges ...float64) (out []analysis.Bar) {
		for i, to := range edges[1:] {
			out = append(out, analysis.Bar{From: edges[i], To: to, Count: within(10, 5, 15)})
		}
		return out
	}
	at := []analysis.QuantileAt{{Share: 0.5, Quantile: within(3, 2, 4)}, {Share: 0.99, Quantile: within(9, 8, 10), OpenHigh: true}, {Share: 0.995, Quantile: analysis.Number{Undefined: "noise"}}}
	a := analysis.Analysis{
		Kind: study.QuantileKind, Features: []analysis.Feature{{Column: "age"}, {Column: "cost"}, {Column: "debt"}},
		Sections: analysis.Sections{Distributions: analysis.Distributions{
			{Present: within(90, 80, 100), Quantiles: at, Histogram: bars(0, 2, 4, 6, 10)},
			{Present: within(100, 100, 100), Quantiles: at, Histogram: bars(1, 10, 100, 1000, 10000)},
			{Present: within(100, 100, 100), Quantiles: at, Histogram: bars(0, 10, 100, 1000, 10000)},
		}},
	}
	figures, tables, text := parts(Analysis("x", a, nil))
	if len(figures) != 3 || len(tables) != 4 || !strings.Contains(text, "age: 90 [80, 100] records have a value") || strings.Contains(text, "cost: ") || !strings.Contains(text, "without an end") {
		t.Fatalf("%d figures, %d tables and %q", len(figures), len(tables), text)
	}
	rows := tables["Quantiles, in original units"].Rows
	for i, want := range []string{"age|median|50|3.0|[2.0, 4.0]|", "age|99 %|99|9.0|[8.0, …)|", "age|99.5 %|99.5|undefined||"} {
		if got := texts(rows[i]); got != want {
			t.Errorf("row %q, want %q", got, want)
		}
	}
	linear, log, uneven := figures[0].Plot.(block.Chart), figures[1].Plot.(block.Chart), figures[2].Plot.(block.Chart)
	if linear.X.Log || !log.X.Log || len(uneven.Names) != 4 || len(linear.References) != 2 || log.Curves[0].Points[0].X < 3 || log.Curves[0].Points[0].X > 4 {
		t.Errorf("%+v, %+v, %+v", linear.X, log.X, uneven.Names)
	}
}
