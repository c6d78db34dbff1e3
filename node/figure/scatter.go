package figure

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/protocol/block"
)

// Sizes of scatter plots, in pixels.
const (
	scatterWidth  = 620.0
	scatterHeight = 420.0
	scatterEdge   = 24.0
)

// scatter draws points of groups, distinguished by shape and colour. A group's number stands at its
// centre, or a legend below names the groups.
func scatter(p block.Scatter) drawn {
	d, at := marksOf(p.Points, len(p.Groups))
	bottom := scatterHeight
	if p.Centres == nil {
		bottom = groupLegend(d, p.Groups) - 8
	} else {
		for c := range at {
			if e := NewEllipse(at[c][0], at[c][1]); e.RX > 0 {
				d.Ellipse(fmt.Sprintf("ellipse s%d", c%Series), e)
			}
		}
		x, y := planeScale(p.Points)
		for c, at := range p.Centres {
			cx, cy := within(x(at.X), scatterWidth), within(y(at.Y), scatterHeight)
			d.Path("plate", fmt.Sprintf("M%g %gh0", Tenth(cx), Tenth(cy)), at.Title)
			d.Text("mid strong", cx, cy+4, p.Groups[c])
		}
	}
	d.Text("soft mid", scatterWidth/2, scatterHeight+20, p.Axes)
	return drawn{d, scatterWidth, bottom + 30, 0.5, "", "", ""}
}

// groupLegend names the groups below the frame, and returns its lower edge.
func groupLegend(d *Drawing, names []string) (top float64) {
	left, top := 0.0, scatterHeight+44
	for g, name := range names {
		name = shortened(name)
		width := 30 + 6.7*float64(len([]rune(name)))
		if left > 0 && left+width > scatterWidth {
			left, top = 0, top+18
		}
		mark := Pen{}
		mark.Mark(left+8, top-4, Shape(g))
		d.Path(fmt.Sprintf("mark s%d", g%Series), mark.String(), "")
		d.Text("legend", left+18, top, name)
		left += width
	}
	return top
}

// marksOf draws the points of each group as one path, and returns their positions.
func marksOf(points []block.Dot, groups int) (*Drawing, [][2][]float64) {
	x, y := planeScale(points)
	marks, at := make([]Pen, groups), make([][2][]float64, groups)
	for _, p := range points {
		marks[p.Group].Mark(x(p.X), y(p.Y), Shape(p.Group))
		at[p.Group][0], at[p.Group][1] = append(at[p.Group][0], x(p.X)), append(at[p.Group][1], y(p.Y))
	}
	d := &Drawing{}
	d.Rect("frame", 0.5, 0.5, scatterWidth-1, scatterHeight-1)
	for g := range marks {
		if marks[g].Len() > 0 {
			d.Path(fmt.Sprintf("mark s%d", g%Series), marks[g].String(), "")
		}
	}
	return d, at
}

// within keeps a centre's number inside the frame.
func within(at, size float64) float64 { return min(max(at, 14), size-14) }

// planeScale maps both directions to pixels at the same scale.
func planeScale(points []block.Dot) (x, y func(float64) float64) {
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, p := range points {
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
