package show

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func number(estimate, half float64) analysis.Number {
	deviation, low, high := half/2, estimate-half, estimate+half
	return analysis.Number{Estimate: &estimate, StandardError: &deviation, Low: &low, High: &high}
}

func texts(row []block.Cell) string {
	var out []string
	for _, c := range row {
		out = append(out, c.Text)
	}
	return strings.Join(out, "|")
}

// Every table of numbers with intervals has a figure, and a section unknown to this package is
// shown.
func TestTablesOfUnknownSections(t *testing.T) {
	table := analysis.Table{
		Name: "regression_coefficients",
		Columns: []analysis.Column{
			{Name: "coefficient", Type: analysis.Integer}, {Name: "name", Type: analysis.Text},
			{Name: "weight", Type: analysis.Real}, {Name: "weight_standard_error", Type: analysis.Real}, {Name: "weight_low", Type: analysis.Real}, {Name: "weight_high", Type: analysis.Real},
			{Name: "weight_population_low", Type: analysis.Real}, {Name: "weight_population_high", Type: analysis.Real},
			{Name: "weight_undefined", Type: analysis.Text},
		},
		Rows: [][]any{{int64(0), "age", 0.5, 0.1, 0.3, 0.7, 0.2, 0.8, ""}, {int64(1), "smoker", nil, nil, nil, nil, nil, nil, "lost"}},
	}
	entries := numbersOf(table)
	if len(entries) != 2 || entries[0].Name != "age, weight" || entries[0].Low != 0.3 || entries[1].Undefined == "" {
		t.Fatalf("entries %+v", entries)
	}
	if one := numbersOf(analysis.Table{Columns: table.Columns, Rows: table.Rows[:1]}); len(one) != 1 || one[0].Name != "weight" {
		t.Errorf("of the only row: %+v", one)
	}
	g := tableOf("coefficients", table)
	if g.Columns[2].Name != "weight, for these records" || g.Columns[3].Name != "weight, for people like these" {
		t.Errorf("headings %+v", g.Columns)
	}
	if got := texts(g.Rows[0]); got != "0|age|0.50 [0.30, 0.70]|[0.20, 0.80]|" {
		t.Errorf("a row shows %q", got)
	}
	if got := texts(g.Rows[1]); got != "1|smoker|undefined||lost" {
		t.Errorf("a row shows %q", got)
	}
}

// Means are drawn once and listed once, however many tables of them an export has.
func TestMeansAreShownOnce(t *testing.T) {
	a := analysis.Analysis{Kind: study.Mean, Features: []analysis.Feature{{Column: "age"}, {Column: "stay"}}, Sections: analysis.Sections{Means: analysis.Means{number(60, 1), number(4, .5)}}}
	figures := 0
	var tables []block.Table
	for _, b := range Analysis("a0", a, nil) {
		switch b := b.(type) {
		case block.Figure:
			figures++
		case block.Table:
			tables = append(tables, b)
		}
	}
	if figures != 1 || len(tables) != 1 {
		t.Fatalf("%d figures, %d tables", figures, len(tables))
	}
	if rows := tables[0].Rows; len(rows) != 2 || texts(rows[0]) != "age|60.0|[59.0, 61.0]" {
		t.Errorf("the table has %v", rows)
	}
}

// Days since 1970 are shown as dates, with intervals widened to whole days, and not on an axis around 0.
func TestMeansOfDatesAreShownAsDates(t *testing.T) {
	born := number(-671.4, 20.5)
	born.Dates = &analysis.Dates{}
	a := analysis.Analysis{Kind: study.Mean, Features: []analysis.Feature{{Column: "born", Date: true}}, Sections: analysis.Sections{Means: analysis.Means{born}}}
	blocks := Analysis("a0", a, nil)
	if says := blocks[0].(block.Heading).Says; says != "born 1968-03-01 [1968-02-09, 1968-03-22]" {
		t.Errorf("the heading says %s", says)
	}
	tables := 0
	for _, b := range blocks {
		switch b := b.(type) {
		case block.Figure:
			t.Errorf("a figure: %s", b.Title)
		case block.Table:
			if tables++; texts(b.Rows[0]) != "born|1968-03-01|[1968-02-09, 1968-03-22]" {
				t.Errorf("the table has %v", texts(b.Rows[0]))
			}
		}
	}
	if tables != 1 {
		t.Errorf("%d tables", tables)
	}
}

// Inconsistent documents are not shown, and do no harm.
func TestUnsoundIsNotShown(t *testing.T) {
	a := analysis.Analysis{Kind: study.Correlation, Features: []analysis.Feature{{Column: "age"}}, Pairs: []analysis.Pair{{I: 0, J: 7, Number: number(0, 1)}}}
	blocks := Analysis("a0", a, nil)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks", len(blocks))
	}
	if text, ok := blocks[1].(block.Text); !ok || text.Tone != block.Warn || !strings.Contains(text.Text, "pair (0, 7) of 1 features") {
		t.Errorf("shown is %v", blocks[1])
	}
}
