package show

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
)

func quantileCurve(name string, quantiles []analysis.Quantile) block.Curve {
	c := block.Curve{Name: name}
	for _, q := range quantiles {
		c.Points = append(c.Points, block.Point{X: 100 * q.Share, Y: q.Value, Title: minus(fmt.Sprintf("%s at most for %.0f %%", block.Brief(q.Value), 100*q.Share))})
	}
	return c
}

// quantiles returns a table of distributions with the same shares, side by side.
func quantiles(caption string, names []string, of ...[]analysis.Quantile) block.Table {
	t := block.Table{Caption: caption + ", by quantile", Columns: []block.Column{block.Numbers("share of records")}, Of: len(of[0])}
	for _, name := range names {
		t.Columns = append(t.Columns, block.Numbers(name+", at most"))
	}
	for i, q := range of[0][:min(len(of[0]), block.MostRows)] {
		row := block.Cells(block.Percent(q.Share))
		for _, values := range of {
			text := ""
			if i < len(values) {
				text = block.Brief(values[i].Value)
			}
			row = append(row, block.Cell{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// minus replaces hyphens by minus signs.
func minus(text string) string { return strings.ReplaceAll(text, "-", "−") }
