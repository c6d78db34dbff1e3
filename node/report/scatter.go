package report

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// Sizes of scatter plots, in pixels.
const (
	scatterWidth  = 620.0
	scatterHeight = 420.0
	scatterEdge   = 24.0
)

// scatterPlot draws a sample of clustered records. Shape and colour both say the cluster,
// and its number stands at its centre.
func scatterPlot(id string, k analysis.KMeans) figure.Figure {
	s := *k.Scatter
	x, y := planeScale(s)
	marks := make([]figure.Pen, k.Clusters)
	atX, atY := make([][]float64, k.Clusters), make([][]float64, k.Clusters)
	for _, p := range s.Points {
		marks[p.Cluster].Mark(x(p.X), y(p.Y), figure.Shape(p.Cluster))
		atX[p.Cluster], atY[p.Cluster] = append(atX[p.Cluster], x(p.X)), append(atY[p.Cluster], y(p.Y))
	}
	d := &figure.Drawing{}
	d.Rect("frame", 0.5, 0.5, scatterWidth-1, scatterHeight-1)
	for c := range marks {
		series := fmt.Sprintf("s%d", c%figure.Series)
		d.Path("mark "+series, marks[c].String(), "")
	}
	for c := range marks {
		series := fmt.Sprintf("s%d", c%figure.Series)
		if e := figure.NewEllipse(atX[c], atY[c]); e.RX > 0 {
			d.Ellipse("ellipse "+series, e)
		}
	}
	for c, at := range s.Centres {
		cx, cy := within(x(at[0]), scatterWidth), within(y(at[1]), scatterHeight)
		d.Path("plate", fmt.Sprintf("M%g %gh0", figure.Tenth(cx), figure.Tenth(cy)), fmt.Sprintf("cluster %d: %d records", c, k.Sizes[c]))
		d.Text("mid strong", cx, cy+4, fmt.Sprint(c))
	}
	d.Text("soft mid", scatterWidth/2, scatterHeight+20, fmt.Sprintf("first direction (%.0f %% of the variance) →   second (%.0f %%) ↑", 100*s.Variance[0], 100*s.Variance[1]))
	return figure.Figure{
		ID: id, Title: "Clusters in the plane in which the sketched records vary most", Drawing: d,
		Width: scatterWidth, Height: scatterHeight + 30, Least: 0.5,
		Description: fmt.Sprintf("%d of %d sketched records in %d clusters, each with a shape of its own and its number at its centre.", len(s.Points), s.Of, k.Clusters),
		Caption: fmt.Sprintf("%d of %d records, as sketched: noise and projection are in them, so marks lie wider than the records do. "+
			"Shape and colour are the cluster, numbers stand at centres, ellipses hold two standard deviations of the marks. Which party a mark is from, nobody is told.", len(s.Points), s.Of),
	}
}

// within keeps a centre's number inside the frame.
func within(at, size float64) float64 { return min(max(at, 14), size-14) }

// planeScale maps both directions to pixels with one unit for both.
func planeScale(s analysis.Scatter) (x, y func(float64) float64) {
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, p := range s.Points {
		lowX, highX, lowY, highY = min(lowX, p.X), max(highX, p.X), min(lowY, p.Y), max(highY, p.Y)
	}
	unit := min((scatterWidth-2*scatterEdge)/max(highX-lowX, math.SmallestNonzeroFloat64), (scatterHeight-2*scatterEdge)/max(highY-lowY, math.SmallestNonzeroFloat64))
	if math.IsInf(unit, 0) {
		unit = 1
	}
	x = func(v float64) float64 { return scatterWidth/2 + (v-(lowX+highX)/2)*unit }
	y = func(v float64) float64 { return scatterHeight/2 - (v-(lowY+highY)/2)*unit }
	return x, y
}
