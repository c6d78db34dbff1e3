package report

import (
	"fmt"
	"math"

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
	lo, hi, step := extent(pairs)
	at := func(x float64) float64 {
		return tenth(intervalLeft + (min(max(x, lo), hi)-lo)/(hi-lo)*(intervalRight-intervalLeft))
	}
	bottom := 10 + intervalPitch*float64(len(pairs))
	p := &intervalPlot{
		Name: name + "-" + string(m.Kind), Width: intervalRight + 40, Height: bottom + 48,
		Left: intervalLeft, Right: intervalRight, Bottom: bottom,
		AxisY: bottom + 38, Middle: (intervalLeft + intervalRight) / 2, Unit: "records that two parties share",
	}
	for v := lo; v <= hi+step/1000; v += step {
		p.Ticks = append(p.Ticks, tick{X: at(v), Y: bottom + 18, Text: number(m.Kind, v)})
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

// extent is the range of an axis that shows every number of the pairs, and the
// distance of its ticks.
func extent(pairs []outcome.Pair) (lo, hi, step float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, p := range pairs {
		for _, x := range []float64{p.Truth, p.Estimate, p.Low, p.High} {
			if !math.IsNaN(x) {
				lo, hi = min(lo, x), max(hi, x)
			}
		}
	}
	step = math.Pow(10, math.Floor(math.Log10(max(hi-lo, 1))))
	for (hi-lo)/step > 6 {
		step *= 2
	}
	for (hi-lo)/step < 3 {
		step /= 2
	}
	return step * math.Floor(lo/step), step * math.Ceil(hi/step), step
}
