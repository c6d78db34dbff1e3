package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// CountsTable is counts of records by the cells of tables, with the shares of rows and columns, and
// a measure of association of two crossed columns.
const CountsTable AnalysisKind = "table"

// TableOptions are the options of CountsTable.
type TableOptions struct {
	Tables    [][]string // the columns of each; default all tables of the sketch that are not trees
	Threshold int        // cells with fewer records are not shown; 0: all are
}

// maxThreshold bounds TableOptions.Threshold.
const maxThreshold = 1_000_000

// Asks reports whether the analysis uses a table.
func (o TableOptions) Asks(t Table) bool {
	return t.Depth == 0 && (len(o.Tables) == 0 || slices.ContainsFunc(o.Tables, t.is))
}

// is reports whether a table has these columns.
func (t Table) is(columns []string) bool {
	return slices.EqualFunc(t.Of, columns, func(a Axis, name string) bool { return a.Column == name })
}

// met reports whether a sketch with these tables answers the analysis.
func (o TableOptions) met(tables []Table) bool {
	for _, columns := range o.Tables {
		if !slices.ContainsFunc(tables, func(t Table) bool { return t.Depth == 0 && t.is(columns) }) {
			return false
		}
	}
	return slices.ContainsFunc(tables, o.Asks)
}

// names returns the names of the tables asked for.
func (o TableOptions) names() string {
	var out []string
	for _, columns := range o.Tables {
		out = append(out, strings.Join(columns, " by "))
	}
	return strings.Join(out, ", ")
}

func ofCountsTable() Kind {
	return Kind{
		Name: CountsTable,
		Needs: func(options Options) []Needs {
			o, _ := options.(TableOptions)
			with := "a table without depth"
			if len(o.Tables) > 0 {
				with = "tables, without depth, of " + o.names()
			}
			return []Needs{{Side: sketch.Counts, tables: o.met, with: with}}
		},
		says: func(a Analysis) string {
			o, _ := a.Options.(TableOptions)
			text := "how many records there are by the cells of tables"
			if len(o.Tables) > 0 {
				text += " of " + o.names()
			}
			if o.Threshold > 0 {
				text += fmt.Sprintf("; cells of fewer than %d are not shown", o.Threshold)
			}
			return text
		},
		keys:   optionKeys[TableOptions]{Keys: tableKeys},
		Counts: countedForTables,
	}
}

var tableKeys = schema.Keys[TableOptions]{
	{
		Name: "tables", Path: "analysis.tables", Doc: "which tables of the sketch, each by its columns, like [[education, income], [age]]", Unset: "all without depth",
		Form: schema.List(func(o *TableOptions) *[][]string { return &o.Tables }, schema.List(schema.Itself[[]string], schema.Text(schema.Itself[string], nil), 1, 2), 0, sketch.MaxCountTables).
			Is("list of lists of one or two columns").Encoded(func(e *schema.Encoder, path string, o *TableOptions) {
			if len(o.Tables) == 0 {
				return
			}
			e.Whole(path, len(o.Tables))
			for _, columns := range o.Tables {
				schema.Texts(e, "analysis.table.columns", columns)
			}
		}),
	},
	{
		Name: "threshold", Path: "analysis.threshold", Doc: "cells of fewer records are not shown, nor their shares; for readers, as noise hides single records anyway", Unset: "all are shown",
		Form: schema.Whole(func(o *TableOptions) *int { return &o.Threshold }, 1, maxThreshold).Encoded(func(e *schema.Encoder, path string, o *TableOptions) {
			if o.Threshold != 0 {
				e.Whole(path, o.Threshold)
			}
		}),
	},
}

func (o TableOptions) String() string {
	var parts []string
	if len(o.Tables) > 0 {
		var tables []string
		for _, columns := range o.Tables {
			tables = append(tables, "["+strings.Join(columns, ", ")+"]")
		}
		parts = append(parts, "tables: ["+strings.Join(tables, ", ")+"]")
	}
	if o.Threshold > 0 {
		parts = append(parts, fmt.Sprintf("threshold: %d", o.Threshold))
	}
	return strings.Join(parts, ", ")
}

func (o TableOptions) Encode(e *schema.Encoder) { tableKeys.Encode(e, &o) }

// draftBins is the number of bins of a numeric column in a draft.
const draftBins = 10

// countedForTables returns the tables asked for, or one for each column.
func countedForTables(options Options, columns []Column) (out []Table) {
	o, _ := options.(TableOptions)
	tables := o.Tables
	if len(tables) == 0 {
		for _, c := range columns {
			tables = append(tables, []string{c.Name})
		}
	}
	for _, names := range tables {
		var t Table
		for _, name := range names {
			axis := Axis{Column: name}
			if slices.ContainsFunc(columns, func(c Column) bool { return c.Name == name && c.Kind == Numeric }) {
				axis.Bins = draftBins
			}
			t.Of = append(t.Of, axis)
		}
		out = append(out, t)
	}
	return out
}
