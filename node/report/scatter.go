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
	d, at := marksOf(s, k.Clusters)
	for c := range at {
		if e := figure.NewEllipse(at[c][0], at[c][1]); e.RX > 0 {
			d.Ellipse(fmt.Sprintf("ellipse s%d", c%figure.Series), e)
		}
	}
	for c, at := range s.Centres {
		cx, cy := within(x(at[0]), scatterWidth), within(y(at[1]), scatterHeight)
		d.Path("plate", fmt.Sprintf("M%g %gh0", figure.Tenth(cx), figure.Tenth(cy)), fmt.Sprintf("cluster %d: %d records", c, k.Sizes[c]))
		d.Text("mid strong", cx, cy+4, fmt.Sprint(c))
	}
	return planeFigure(id, s, d, scatterHeight, figure.Figure{
		Title:       "Clusters in the plane in which the sketched records vary most",
		Description: fmt.Sprintf("%d of %d sketched records in %d clusters, each with a shape of its own and its number at its centre.", len(s.Points), s.Of, k.Clusters),
		Caption:     "Shape and colour show the cluster, numbers its centre, and ellipses two standard deviations of its marks.",
	})
}

// groupPlot draws a sample of records by what is said of them, with a legend.
func groupPlot(id, what string, s analysis.Scatter, names []string) figure.Figure {
	d, _ := marksOf(s, len(names))
	left, top := 0.0, scatterHeight+44
	for g, name := range names {
		name = shortened(name)
		width := 30 + 6.7*float64(len([]rune(name)))
		if left > 0 && left+width > scatterWidth {
			left, top = 0, top+18
		}
		mark := figure.Pen{}
		mark.Mark(left+8, top-4, figure.Shape(g))
		d.Path(fmt.Sprintf("mark s%d", g%figure.Series), mark.String(), "")
		d.Text("legend", left+18, top, name)
		left += width
	}
	return planeFigure(id, s, d, top-8, figure.Figure{
		Title:       what + ", in the plane in which the sketched records vary most",
		Description: fmt.Sprintf("%d of %d sketched records, with a shape for each of %d groups.", len(s.Points), s.Of, len(names)),
		Caption:     "Shape and colour both show the group.",
	})
}

// marksOf draws the points of each group in one path, and returns where they are.
func marksOf(s analysis.Scatter, groups int) (*figure.Drawing, [][2][]float64) {
	x, y := planeScale(s)
	marks, at := make([]figure.Pen, groups), make([][2][]float64, groups)
	for _, p := range s.Points {
		marks[p.Cluster].Mark(x(p.X), y(p.Y), figure.Shape(p.Cluster))
		at[p.Cluster][0], at[p.Cluster][1] = append(at[p.Cluster][0], x(p.X)), append(at[p.Cluster][1], y(p.Y))
	}
	d := &figure.Drawing{}
	d.Rect("frame", 0.5, 0.5, scatterWidth-1, scatterHeight-1)
	for g := range marks {
		if marks[g].Len() > 0 {
			d.Path(fmt.Sprintf("mark s%d", g%figure.Series), marks[g].String(), "")
		}
	}
	return d, at
}

// planeFigure finishes a picture of the plane with what holds for all of them.
func planeFigure(id string, s analysis.Scatter, d *figure.Drawing, bottom float64, f figure.Figure) figure.Figure {
	d.Text("soft mid", scatterWidth/2, scatterHeight+20, fmt.Sprintf("first direction (%.0f %% of the variance) →   second (%.0f %%) ↑", 100*s.Variance[0], 100*s.Variance[1]))
	f.ID, f.Drawing, f.Width, f.Height, f.Least = id, d, scatterWidth, bottom+30, 0.5
	f.Caption = fmt.Sprintf("%d of %d records, as sketched: with noise and projection, so that marks spread wider than the records. %s Nobody is told which party a mark is from.", len(s.Points), s.Of, f.Caption)
	return f
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
