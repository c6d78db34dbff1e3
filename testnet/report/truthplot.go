package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/testnet/outcome"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// truthPlot is the scatter of estimated correlations over the truth with the identity line, and
// the strip of intervals under it.
type truthPlot struct {
	Name          string // prefix of ids in the page
	Description   string
	Width, Height float64
	Left, Top     float64 // corner of the square plot area
	Size          float64
	Bottom        float64 // lower edge of the plot area
	Below, Before float64 // where tick labels stand
	Middle        float64 // centre along x
	MiddleY       float64
	AxisY         float64 // where the label of the x axis stands
	Ticks         []tick
	CoveredBars   string // path of the interval bars that contain the truth
	MissedBars    string
	CoveredDots   string // path of zero-length lines, dots by their round caps
	MissedDots    string
	Named         []namedPoint
	StripLabelY   float64
	StripWidth    float64 // of one line
	CoveredStrip  string  // paths of the strip, ordered by truth
	MissedStrip   string
	Caption       string
}

// tick is one value on both axes.
type tick struct {
	X, Y float64
	Text string
}

// namedPoint is an estimate with its name on the right of the plot.
type namedPoint struct {
	X, Y           float64
	ElbowX         float64
	LabelX, LabelY float64
	Text, Other    string // the two columns
	OtherY         float64
	Note           string
	NoteY          float64
}

const (
	plotSize   = 520.0
	plotLeft   = 70.0
	plotTop    = 16.0
	namedCount = 4
)

func newTruthPlot(name string, m outcome.Matrix) *truthPlot {
	t := &truthPlot{
		Name: name + "-" + string(m.Kind),
		Left: plotLeft, Top: plotTop, Size: plotSize, Bottom: plotTop + plotSize,
		Below: plotTop + plotSize + 18, Before: plotLeft - 8,
		Middle: plotLeft + plotSize/2, MiddleY: plotTop + plotSize/2,
		AxisY: plotTop + plotSize + 38, StripLabelY: plotTop + plotSize + 72,
		Width: figureWidth, Height: plotTop + plotSize + 122,
	}
	pairs := m.Cross()
	slices.SortStableFunc(pairs, func(a, b outcome.Pair) int { return descending(b.Truth, a.Truth) })
	at := func(r float64) float64 { return (min(max(r, -1), 1) + 1) / 2 * plotSize }
	px := func(x float64) float64 { return plotLeft + at(x) }
	py := func(y float64) float64 { return plotTop + plotSize - at(y) }
	for _, r := range []float64{-1, -0.5, 0, 0.5, 1} {
		t.Ticks = append(t.Ticks, tick{X: px(r), Y: py(r), Text: fmt.Sprintf("%g", r)})
	}
	t.draw(pairs, px, py)
	t.name(m, px, py)
	covered, n := m.Coverage()
	t.Caption = fmt.Sprintf("%d of %d intervals contain the truth (level %.0f %%), ordered by truth", covered, n, 100*m.Level)
	t.Description = fmt.Sprintf("Each of %d pairs across parties at its truth (horizontal) and estimate (vertical) with its interval; "+
		"on the line, both are equal. %s. Root mean square error: %s.", n, t.Caption, rmse(m))
	return t
}

// draw fills the paths: bars and dots of the plot, ticks of the strip.
func (t *truthPlot) draw(pairs []outcome.Pair, px, py func(float64) float64) {
	var bars, strip [2]strings.Builder // covered, missed
	var dots [2]figure.Pen
	pitch := plotSize / float64(len(pairs))
	t.StripWidth = figure.Tenth(min(0.7*pitch, 24))
	for i, p := range pairs {
		which, top, height := 0, 18.0, 18.0
		if !p.Covered() {
			which, top, height = 1, 10.0, 26.0
		}
		fmt.Fprintf(&strip[which], "M%.1f %.0fv%.0f", plotLeft+(float64(i)+0.5)*pitch, t.StripLabelY+top, height)
		if p.Undefined == "" {
			fmt.Fprintf(&bars[which], "M%.0f %.0fV%.0f", px(p.Truth), py(p.Low), py(p.High))
			dots[which].Mark(px(p.Truth), py(p.Estimate), figure.DotMark)
		}
	}
	t.CoveredBars, t.MissedBars = bars[0].String(), bars[1].String()
	t.CoveredDots, t.MissedDots = dots[0].String(), dots[1].String()
	t.CoveredStrip, t.MissedStrip = strip[0].String(), strip[1].String()
}

// name labels the missed estimates that lie farthest from the truth, measured
// by their own intervals.
func (t *truthPlot) name(m outcome.Matrix, px, py func(float64) float64) {
	var missed []outcome.Pair
	for _, p := range m.Cross() {
		if p.Undefined == "" && !p.Covered() {
			missed = append(missed, p)
		}
	}
	slices.SortStableFunc(missed, func(a, b outcome.Pair) int { return descending(m.Distance(a), m.Distance(b)) })
	missed = missed[:min(len(missed), namedCount)]
	slices.SortStableFunc(missed, func(a, b outcome.Pair) int { return descending(a.Estimate, b.Estimate) })
	// Labels stand in a column to the right of the plot, one under the other.
	next := plotTop + 10.0
	for _, p := range missed {
		n := namedPoint{X: px(p.Truth), Y: py(p.Estimate), ElbowX: plotLeft + plotSize + 14, LabelX: plotLeft + plotSize + 30}
		n.LabelY = math.Max(next, n.Y)
		n.OtherY, n.NoteY = n.LabelY+15, n.LabelY+30
		n.Text, n.Other = longLabel(m.Features[p.I]), longLabel(m.Features[p.J])
		n.Note = fmt.Sprintf("%s [%s, %s], truth %s", number(m.Kind, p.Estimate), number(m.Kind, p.Low), number(m.Kind, p.High), number(m.Kind, p.Truth))
		next = n.LabelY + 54
		t.Named = append(t.Named, n)
	}
}

func featureLabel(f outcome.Feature) string {
	if f.Column == "" {
		return scenario.PartyNames[f.Party]
	}
	return f.Column
}
