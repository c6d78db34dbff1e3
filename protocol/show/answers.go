package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
)

// Answers returns the nearest records of public vectors, as blocks.
func Answers(a analysis.Answers) []block.Block {
	out := []block.Block{
		block.Text{Text: fmt.Sprintf("%d vectors among %d records of %s; by squared distance.", len(a.Queries), a.Records, strings.Join(a.Parties, ", "))},
		block.Text{Text: fmt.Sprintf("Units: %s.", a.Units)},
		block.Text{Text: fmt.Sprintf("The intervals of one vector hold together in %g %% of studies, for the data; who is nearest holds for the records as they were released.", 100*a.Level)},
	}
	for i, q := range a.Queries {
		says := q.Query
		for _, said := range q.Said {
			says += fmt.Sprintf("; %s: %s", said.Model, said.Value)
		}
		t := block.Table{
			Caption: "Nearest records", AllRows: true, Of: len(q.Near), Columns: append([]block.Column{block.Numbers("rank"), block.Words("held by"), block.Words("handle")}, block.Estimates("squared distance", false)...),
		}
		for rank, n := range q.Near[:min(len(q.Near), block.MostRows)] {
			t.Rows = append(t.Rows, slices.Concat(block.Cells(fmt.Sprint(rank+1), strings.Join(n.Parties, "+"), n.Handle), n.Distance.Shown().Cells(false)))
		}
		out = append(out, block.Heading{ID: fmt.Sprintf("q%d", i), Text: "Vector", Says: says}, t)
	}
	return out
}
