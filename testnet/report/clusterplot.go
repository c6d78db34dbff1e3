package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/testnet/outcome"
)

// clusterPlot is the scatter of records on the first two principal components of
// the pooled records; shape and colour both code the study's cluster.
type clusterPlot struct {
	Name                  string // prefix of ids in the page
	Description, Caption  string
	Width, Height         float64
	Left, Top             float64 // corner of the plot area
	PlotWidth, PlotHeight float64
	Middle, MiddleY       float64
	AxisY                 float64
	AxisXText, AxisYText  string
	Shapes                [2]string // paths: circles of the first cluster, triangles of the second
	Differ                string    // path: dots, drawn as rings, where pooled k-means disagrees
	Ellipses              [2]figure.Ellipse
}

const (
	clusterWidth  = 640.0
	clusterHeight = 430.0
	mostDrawn     = 300 // records that are no exception; of more, every so manieth
)

func newClusterPlot(name string, c outcome.Clusters) *clusterPlot {
	p := &clusterPlot{
		Name: name, Width: clusterWidth, Height: clusterHeight,
		Left: 46, Top: 12, PlotWidth: clusterWidth - 60, PlotHeight: clusterHeight - 60,
		AxisXText: fmt.Sprintf("first principal component of the pooled records (%.0f %% of the variance)", 100*c.Variance[0]),
		AxisYText: fmt.Sprintf("second (%.0f %%)", 100*c.Variance[1]),
	}
	p.Middle, p.MiddleY, p.AxisY = p.Left+p.PlotWidth/2, p.Top+p.PlotHeight/2, p.Top+p.PlotHeight+24
	differing := 0
	x, y := p.scales(c.Points)
	var shapes [2]figure.Pen
	var rings figure.Pen
	var at [2][2][]float64 // cluster, axis
	byX := slices.SortedFunc(slices.Values(c.Points), func(a, b outcome.Point) int { return cmp.Compare(a.X, b.X) })
	stride, drawn := (len(byX)+mostDrawn-1)/mostDrawn, 0
	for i, point := range byX { // neighbours are near each other, so their moves are short
		px, py := x(point.X), y(point.Y)
		at[point.Cluster][0] = append(at[point.Cluster][0], px)
		at[point.Cluster][1] = append(at[point.Cluster][1], py)
		if point.Cluster == point.Pooled && i%stride > 0 {
			continue
		}
		drawn++
		if point.Cluster == 0 {
			shapes[0].Mark(px, py, figure.DotMark)
		} else {
			shapes[1].Mark(px, py-4, figure.TriangleMark)
		}
		if point.Cluster != point.Pooled {
			differing++
			rings.Mark(px, py, figure.DotMark)
		}
	}
	for i := range shapes {
		p.Shapes[i] = shapes[i].String()
		p.Ellipses[i] = figure.NewEllipse(at[i][0], at[i][1])
	}
	p.Differ = rings.String()
	p.Caption = fmt.Sprintf("Each mark is one of %d records; no party and no aggregator could draw this picture. Circles and triangles are the study's clusters "+
		"(%d and %d records) with their centres and ellipses of two standard deviations. The %d ringed records are in the other cluster under k-means on the pooled records.",
		len(c.Points), c.Sizes[0], c.Sizes[1], differing)
	if drawn < len(c.Points) {
		p.Caption += fmt.Sprintf(" Drawn are these and every %s of the others, %d in all.", ordinal(stride), drawn)
	}
	p.Description = fmt.Sprintf("%d records on the first two principal components: %d circles, %d triangles, %d of them ringed.",
		len(c.Points), c.Sizes[0], c.Sizes[1], differing)
	return p
}

// ordinal is a number's word in "every second".
func ordinal(n int) string {
	switch n {
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}

// scales map both components with one unit for both axes.
func (p *clusterPlot) scales(points []outcome.Point) (x, y func(float64) float64) {
	loX, hiX, loY, hiY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, point := range points {
		loX, hiX = min(loX, point.X), max(hiX, point.X)
		loY, hiY = min(loY, point.Y), max(hiY, point.Y)
	}
	const margin = 12
	unit := min((p.PlotWidth-2*margin)/(hiX-loX), (p.PlotHeight-2*margin)/(hiY-loY))
	middleX, middleY := (loX+hiX)/2, (loY+hiY)/2
	x = func(v float64) float64 { return p.Left + p.PlotWidth/2 + (v-middleX)*unit }
	y = func(v float64) float64 { return p.Top + p.PlotHeight/2 - (v-middleY)*unit }
	return x, y
}
