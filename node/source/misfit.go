package source

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/study"
)

// Misfit is a column of which the data hold what the study does not take.
type Misfit struct {
	Column  string           // the study's name
	Kind    study.ColumnKind // the study's
	Refused int64            // values at which reading stops
	First   string           // where the first of them is
	Missing int64            // absent values, where the study refuses those
}

// String says it to the data's owner; no value is in it.
func (m Misfit) String() string {
	text := fmt.Sprintf("%q, %s in the study:", m.Column, m.Kind)
	if m.Refused > 0 {
		are := map[study.ColumnKind]string{
			study.Numeric: "not numeric", study.Binary: "neither 0 nor 1", study.Categorical: "not among the values that the study lists",
		}[m.Kind]
		text += fmt.Sprintf(" %s %s (the first: %s)", valuesAre(m.Refused), are, m.First)
	}
	if m.Missing > 0 {
		if m.Refused > 0 {
			text += ";"
		}
		text += fmt.Sprintf(" %s missing, which the study refuses", valuesAre(m.Missing))
	}
	return text
}

func valuesAre(n int64) string {
	if n == 1 {
		return "1 value is"
	}
	return fmt.Sprintf("%d values are", n)
}

// Misfits reads a party's data to their end and returns every column that does not fit the
// study, where CheckData stops at the first value.
func Misfits(ctx context.Context, o Options) ([]Misfit, error) {
	fail := func(err error) ([]Misfit, error) {
		return nil, fmt.Errorf("looking for what does not fit study %s: %w", o.Study.ID.Short(), err)
	}
	h, err := o.Source()
	if err != nil {
		return fail(err)
	}
	src, err := h.Open()
	if err != nil {
		return fail(err)
	}
	held, err := dataset.Describe(ctx, src.Data.Source, dataset.DescribeOptions{Fields: src.Schema.Fields, Bits: src.Schema.Bits})
	if err != nil {
		return fail(err)
	}
	var out []Misfit
	for _, f := range src.Schema.Fields {
		i := slices.IndexFunc(held.Columns, func(c dataset.ColumnDescription) bool { return c.Against != nil && c.Name == f.Header })
		if i < 0 {
			continue // Open says which columns are absent
		}
		c := held.Columns[i]
		m := Misfit{Column: f.Name, Kind: f.Kind, Refused: c.Against.Refused, First: c.Against.First}
		if src.Schema.Missing == study.MissingRefuse || f.Required && src.Schema.Missing.Stays() {
			m.Missing = c.Missing
		}
		if m.Refused > 0 || m.Missing > 0 {
			out = append(out, m)
		}
	}
	return out, nil
}
