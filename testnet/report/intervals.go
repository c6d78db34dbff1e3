package report

import (
	"fmt"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/testnet/outcome"
)

// intervalPlot shows few estimates, one in each row, with interval and truth.
type intervalPlot struct {
	Name          string // prefix of ids in the page
	Description   string
	Width, Height float64
	Left, Right   float64 // ends of the axis
	Bottom        float64
	AxisY         float64
	Middle        float64
	Unit          string
	Ticks         []tick
	Rows          []intervalRow
}

type intervalRow struct {
	Y, Low, High, Estimate float64
	TruthTop, TruthBottom  float64
	Truth                  float64
	Text                   string
	Missed                 bool
}

const (
	intervalLeft  = 130.0
	intervalRight = 720.0
	intervalPitch = 44.0
)

func newIntervalPlot(name string, m outcome.Matrix) *intervalPlot {
	pairs := m.Cross()
	var shown []float64
	for _, pair := range pairs {
		shown = append(shown, pair.Truth, pair.Estimate, pair.Low, pair.High)
	}
	axis := figure.NewAxis(intervalLeft, intervalRight, shown...)
	at := axis.At
	bottom := 10 + intervalPitch*float64(len(pairs))
	p := &intervalPlot{
		Name: name + "-" + string(m.Kind), Width: intervalRight + 40, Height: bottom + 48,
		Left: intervalLeft, Right: intervalRight, Bottom: bottom,
		AxisY: bottom + 38, Middle: (intervalLeft + intervalRight) / 2, Unit: "records that two parties share",
	}
	for _, t := range axis.Ticks() {
		p.Ticks = append(p.Ticks, tick{X: t.At, Y: bottom + 18, Text: t.Text})
	}
	for i, pair := range pairs {
		if pair.Undefined != "" {
			continue // the table says why
		}
		y := 10 + intervalPitch*(float64(i)+0.5)
		p.Rows = append(p.Rows, intervalRow{
			Y: y, Low: at(pair.Low), High: at(pair.High), Estimate: at(pair.Estimate),
			Truth: at(pair.Truth), TruthTop: y - 13, TruthBottom: y + 13,
			Text: pairLabel(m, pair), Missed: !pair.Covered(),
		})
	}
	p.Description = fmt.Sprintf("One row for each of %d pairs of parties: interval, estimate and truth. %s.", len(pairs), coverage(m))
	return p
}
