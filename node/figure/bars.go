package figure

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/block"
)

// Sizes of horizontal bars, in pixels.
const (
	barsArea  = 420.0
	barsPitch = 40.0
	barsLeft  = 8.0
	barsTop   = 5.0
	barsRight = 182.0 // room for the text beside them
)

// bars draws horizontal bars, each with its name above it, and a reference line.
func bars(b block.Bars) drawn {
	d := &Drawing{}
	bottom := barsTop + barsPitch*float64(len(b.Rows))
	axis := Axis{Low: 0, High: 100, Step: 25, From: barsLeft, To: barsLeft + barsArea}
	if !b.Percent {
		numbers := []float64{0}
		for _, row := range b.Rows {
			numbers = append(numbers, 1.05*row.Rule, row.Value, row.Mark)
		}
		axis = NewAxis(barsLeft, barsLeft+barsArea, numbers...)
	}
	d.XAxis(axis, barsTop, bottom)
	height := bottom + 24
	if b.Axis != "" {
		d.Text("soft mid", barsLeft+barsArea/2, bottom+34, b.Axis)
		height = bottom + 42
	}
	for i, row := range b.Rows {
		y := barsTop + barsPitch*(float64(i)+0.7)
		d.Text("name", barsLeft, y-12, longName(row.Name))
		if row.Value > 0 {
			d.Path("got", fmt.Sprintf("M%g %gH%g", axis.At(0), y, axis.At(row.Value)), row.Title)
		}
		d.Path("rule", fmt.Sprintf("M%g %gv16", axis.At(row.Rule), y-8), "")
		if row.MarkTitle != "" {
			mark := Pen{}
			mark.Mark(axis.At(row.Mark), y, Shape(3))
			d.Path("mark s2", mark.String(), row.MarkTitle)
		}
		d.Text("soft", axis.To+10, y+4, row.Text)
	}
	return drawn{Drawing: d, width: barsLeft + barsArea + barsRight, height: height, least: 0.75}
}
