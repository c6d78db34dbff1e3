package show

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
)

// mostCounted limits how many tables, or columns, of an answer are shown individually.
const mostCounted = 20

// hundredth returns a share as a percentage.
func hundredth(n analysis.Number) block.Number {
	out := n.Shown()
	for _, x := range []*float64{&out.Value, &out.Low, &out.High, &out.PeopleLow, &out.PeopleHigh} {
		*x *= 100
	}
	return out
}

// amount formats a number of records, or a percentage, in one cell. If it may be 0, it gives only
// the upper limit.
func amount(n block.Number, whole bool) block.Cell {
	switch {
	case n.Undefined != "":
		return block.Cell{Text: "–", Undefined: n.Undefined}
	case n.Low <= 0 && n.High > 0 && whole:
		return block.Cell{Text: "at most " + block.Count(ceil(n.High-1e-9))}
	case n.Low <= 0 && n.High > 0:
		return block.Cell{Text: "at most " + block.Digits(ceil(10*n.High-1e-9)/10, 4)}
	}
	return block.Cell{Text: n.String()}
}

// bars returns upright bars with intervals, one for each name.
func bars(names []string, label string, numbers []block.Number) block.Chart {
	curve := block.Curve{Look: block.Upright}
	for i, n := range numbers {
		p := block.PointOf(float64(i), n)
		if p.Title = names[i] + ": " + n.Long(); n.Undefined == "" {
			curve.Points = append(curve.Points, p)
		}
	}
	return block.Chart{
		Height: 200, Width: max(200, min(680, 60*float64(len(names)))), Names: names,
		Y: block.Dimension{Label: label, Include: []float64{0}}, Curves: []block.Curve{curve},
	}
}

// tableName returns the name of a table for a sentence.
func tableName(rows, columns string) string {
	if columns == "" {
		return rows
	}
	return fmt.Sprintf("%s by %s", rows, columns)
}
