package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// QuantileKind is medians, quartiles and other quantiles of numbers, and their distribution.
const QuantileKind AnalysisKind = "quantile"

// QuantileOptions are the options of QuantileKind.
type QuantileOptions struct {
	Columns []string  // default all numbers that have a table of their own
	At      []float64 // probabilities between 0 and 1, increasing; default the quartiles
}

// MostQuantiles bounds the number of quantiles.
const MostQuantiles = 100

// quartiles returns the default probabilities.
func quartiles() []float64 { return []float64{0.25, 0.5, 0.75} }

// Asks reports whether the analysis can use a table: a tree, or bins of one number.
func (o QuantileOptions) Asks(t Table) bool {
	return len(t.Of) == 1 && (t.Depth > 0 || t.Of[0].Bins > 0 || len(t.Of[0].Edges) > 0) && (len(o.Columns) == 0 || slices.Contains(o.Columns, t.Of[0].Column))
}

// Tables returns the indices of the tables that answer: for each column the deepest tree or,
// without one, a table of bins.
func (o QuantileOptions) Tables(of []Table) (out []int) {
	for i, t := range of {
		if !o.Asks(t) {
			continue
		}
		at := slices.IndexFunc(out, func(j int) bool { return of[j].Of[0].Column == t.Of[0].Column })
		switch {
		case at < 0:
			out = append(out, i)
		case t.Depth > of[out[at]].Depth:
			out[at] = i
		}
	}
	return out
}

func (o QuantileOptions) met(tables []Table) bool {
	n := len(o.Tables(tables))
	return n > 0 && (len(o.Columns) == 0 || n == len(o.Columns))
}

func ofQuantile() Kind {
	return Kind{
		Name: QuantileKind,
		Needs: func(options Options) []Needs {
			o, _ := options.(QuantileOptions)
			with := "a table of one number, with depth or bins"
			if len(o.Columns) > 0 {
				with = "tables of one number, with depth or bins, of " + strings.Join(o.Columns, ", ")
			}
			return []Needs{{Side: sketch.Counts, tables: o.met, with: with}}
		},
		says: func(a Analysis) string {
			o, _ := a.Options.(QuantileOptions)
			of := "each column of numbers that is counted"
			if len(o.Columns) > 0 {
				of = strings.Join(o.Columns, ", ")
			}
			return fmt.Sprintf("below which values of %s lie the shares %s of the records, and how many records lie in bins", of, o.at())
		},
		keys:   optionKeys[QuantileOptions]{Keys: quantileKeys},
		check:  checkQuantiles,
		Counts: countedForQuantiles,
	}
}

func checkQuantiles(r *schema.Reader, s *Study, a Analysis, path string) {
	o, _ := a.Options.(QuantileOptions)
	for i, name := range o.Columns {
		at := fmt.Sprintf("%s.columns[%d]", path, i)
		if slices.Contains(o.Columns[:i], name) {
			r.Fail(at, "%q appears twice", name)
		} else if c, ok := s.known(r, at, name); ok && c.Kind != Numeric {
			r.Fail(at, "%q is %s, and has no quantiles", name, c.Kind).Hint = "ask for a table of it"
		}
	}
	for i, q := range o.At {
		switch {
		case !(q > 0 && q < 1):
			r.Fail(fmt.Sprintf("%s.at[%d]", path, i), "%v is not between 0 and 1", q).Hint = "0.5 is the median"
		case i > 0 && q <= o.At[i-1]:
			r.Fail(fmt.Sprintf("%s.at[%d]", path, i), "%v is not above the one before it", q)
		}
	}
}

var quantileKeys = schema.Keys[QuantileOptions]{
	{
		Name: "columns", Path: "analysis.columns", Doc: "which columns of numbers", Unset: "all that are counted by themselves, with depth or bins",
		Form: schema.List(func(o *QuantileOptions) *[]string { return &o.Columns }, schema.Text(schema.Itself[string], nil), 0, sketch.MaxCountTables).Encoded(func(e *schema.Encoder, path string, o *QuantileOptions) {
			if len(o.Columns) > 0 {
				schema.Texts(e, path, o.Columns)
			}
		}),
	},
	{
		Name: "at", Path: "analysis.at", Doc: "shares of the records below, increasing: 0.5 is the median", Unset: "the quartiles, [0.25, 0.5, 0.75]",
		Form: schema.List(func(o *QuantileOptions) *[]float64 { return &o.At }, schema.Real(schema.Itself[float64], "number"), 1, MostQuantiles).Is("list of numbers between 0 and 1, increasing").
			Absent(func(o *QuantileOptions) { o.At = quartiles() }).Encoded(func(e *schema.Encoder, path string, o *QuantileOptions) {
			e.Whole("analysis.quantiles", len(o.At))
			for _, q := range o.At {
				e.Real(path, q)
			}
		}),
	},
}

// at returns the probabilities as in the study file.
func (o QuantileOptions) at() string {
	out := make([]string, len(o.At))
	for i, q := range o.At {
		out[i] = fmt.Sprintf("%g", q)
	}
	return strings.Join(out, ", ")
}

func (o QuantileOptions) String() string {
	text := "at: [" + o.at() + "]"
	if len(o.Columns) > 0 {
		text = "columns: [" + strings.Join(o.Columns, ", ") + "], " + text
	}
	return text
}

func (o QuantileOptions) Encode(e *schema.Encoder) { quantileKeys.Encode(e, &o) }

// draftDepth is the depth of a column's tree in a draft.
const draftDepth = 10

// countedForQuantiles returns trees of the columns asked for, or of all numbers.
func countedForQuantiles(options Options, columns []Column) (out []Table) {
	o, _ := options.(QuantileOptions)
	for _, c := range columns {
		if c.Kind == Numeric && (len(o.Columns) == 0 || slices.Contains(o.Columns, c.Name)) {
			out = append(out, Table{Of: []Axis{{Column: c.Name}}, Depth: draftDepth})
		}
	}
	return out
}
