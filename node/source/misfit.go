package source

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/study"
)

// Misfits reads all of a party's data and returns every problem that keeps the study from using
// them. CheckData stops at the first.
func Misfits(ctx context.Context, o Options) ([]dataset.Problem, error) {
	fail := func(err error) ([]dataset.Problem, error) {
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
	fields := src.Schema.Fields
	held, err := dataset.Describe(ctx, src.Data.Source, dataset.DescribeOptions{Fields: fields, Bits: src.Schema.Bits})
	if err != nil {
		return fail(err)
	}
	column := func(header string) int {
		return slices.IndexFunc(held.Columns, func(c dataset.ColumnDescription) bool { return c.Against != nil && c.Name == header })
	}
	out := held.Problems
	for _, f := range fields {
		switch i := column(f.Header); {
		case i < 0:
			out = append(out, dataset.Problem{
				Column: f.Header, What: "the data have no such column", Stops: true,
				Hint: fmt.Sprintf("where it has another name there: party data use %s %s --column '%s=NAME'", src.Data.Name, o.Study.ID.Short(), f.Name),
			})
		case held.Columns[i].Missing > 0 && (src.Schema.Missing == study.MissingRefuse || f.Required && src.Schema.Missing.Stays()):
			out = append(out, held.Columns[i].Lacking("which the study refuses"))
		}
	}
	return out, nil
}
