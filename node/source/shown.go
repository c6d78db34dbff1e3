package source

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// Blocks shows what the study would do to a party's data, biggest problem first. The figures are
// exact, so they are only for the party's own terminal.
func (e Effect) Blocks() (out []block.Block) {
	say := func(text string) { out = append(out, block.Text{Text: text}) }
	for _, text := range e.Warnings {
		out = append(out, block.Text{Tone: block.Warn, Lead: "Warning", Text: text})
	}
	far := slices.ContainsFunc(e.Columns, func(c ColumnEffect) bool { return c.Beyond > 0 })
	t := block.Table{Columns: block.Headed("column", ">clipped", ">missing"), AllRows: true}
	if far {
		t.Columns = append(t.Columns, block.Numbers("beyond 3 spreads"))
	}
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, c := range e.Columns {
		row := block.Cells(c.Name, count(c.Clipped), count(c.Missing))
		if far {
			row = append(row, block.Cells(count(c.Beyond))...)
		}
		t.Rows = append(t.Rows, row)
	}
	out = append(out, t)
	for _, c := range e.Columns {
		if c.NoLogarithm > 0 {
			say(fmt.Sprintf("%s: %d values are 0 or less. They have no logarithm, and count as the lower bound, or as three spreads below the centre. If such values are common, ask the operator for transform: asinh.", c.Name, c.NoLogarithm))
		}
	}
	if slices.ContainsFunc(e.Columns, func(c ColumnEffect) bool { return c.Missing > 0 }) {
		say(map[study.Missing]string{
			study.MissingCentre: "A missing value counts as the public centre.",
			study.MissingCount:  "Moments leave a missing value out and count it, with noise. In other sketches it counts as the public centre.",
			study.MissingSkip:   "A record that lacks a value is left out.",
		}[e.Missing])
	}
	if far {
		say("Values beyond three spreads stay as they are. A record that is too long is shortened as a whole.")
	}
	for _, s := range e.Cuts {
		say(s.String())
	}
	return out
}
