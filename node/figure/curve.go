package figure

import (
	"fmt"
	"math"
	"strings"

	"github.com/cosketch/cosketch/protocol/block"
)

// band draws the intervals of a curve as an area, one for each piece without a gap.
func (p *plot) band(series int, c block.Curve) {
	if !c.Band && c.Look != block.Area {
		return
	}
	var data strings.Builder
	for _, piece := range p.pieces(c.Points, func(at block.Point) bool { return at.Low < at.High }) {
		for i, at := range piece {
			fmt.Fprintf(&data, "%s%g %g", move(i), p.x.At(at.X), p.y.At(at.High))
		}
		for i := len(piece) - 1; i >= 0; i-- {
			fmt.Fprintf(&data, "L%g %g", p.x.At(piece[i].X), p.y.At(piece[i].Low))
		}
		data.WriteString("z")
	}
	if data.Len() > 0 {
		p.Path("band "+class(series), data.String(), "")
	}
}

// curve draws a curve without its band.
func (p *plot) curve(series int, c block.Curve) {
	switch c.Look {
	case block.Area:
		return
	case block.Upright:
		p.bars(series, c)
		return
	}
	if c.Look != block.Marks {
		p.line(series, c.Points)
	}
	if !c.Band {
		p.whiskers(series, c.Points)
	}
	if c.Look != block.Smooth {
		p.marks(series, c)
	}
}

func (p *plot) line(series int, points []block.Point) {
	var data strings.Builder
	for _, piece := range p.pieces(points, func(block.Point) bool { return true }) {
		for i, at := range piece {
			fmt.Fprintf(&data, "%s%g %g", move(i), p.x.At(at.X), p.y.At(at.Y))
		}
	}
	if data.Len() > 0 {
		p.Path("line "+class(series), data.String(), "")
	}
}

// whiskers draws the interval of every point.
func (p *plot) whiskers(series int, points []block.Point) {
	var data strings.Builder
	for _, at := range points {
		if p.shown(at) && at.Low < at.High {
			x, low, high := p.x.At(at.X), p.y.At(at.Low), p.y.At(at.High)
			fmt.Fprintf(&data, "M%g %gV%gM%g %gh6M%g %gh6", x, low, high, Tenth(x-3), low, Tenth(x-3), high)
		}
	}
	if data.Len() > 0 {
		p.Path("whisker "+class(series), data.String(), "")
	}
}

// marks draws the points of a curve; points with titles are separate elements.
func (p *plot) marks(series int, c block.Curve) {
	shape, all := Shape(series), Pen{}
	for _, at := range c.Points {
		if !p.shown(at) {
			continue
		}
		if !p.marked {
			all.Mark(p.x.At(at.X), p.y.At(at.Y), shape)
			continue
		}
		one := Pen{}
		one.Mark(p.x.At(at.X), p.y.At(at.Y), shape)
		p.Path("mark "+class(series), one.String(), p.pointTitle(c, at))
	}
	if all.Len() > 0 {
		p.Path("mark "+class(series), all.String(), "")
	}
}

// bars draws vertical bars, as wide as the smallest distance of neighbours.
func (p *plot) bars(series int, c block.Curve) {
	var data strings.Builder
	half, low := barWidth(c)/2, p.y.At(p.y.Low)
	if p.y.Low < 0 {
		low = p.y.At(0)
	}
	for _, at := range c.Points {
		if !p.shown(at) {
			continue
		}
		from, to := p.x.At(at.X-half), p.x.At(at.X+half)
		bar := fmt.Sprintf("M%g %gV%gH%gV%gz", from, low, p.y.At(at.Y), to, low)
		if p.marked {
			p.Path("column "+class(series), bar, p.pointTitle(c, at))
			continue
		}
		data.WriteString(bar)
	}
	if data.Len() > 0 {
		p.Path("column "+class(series), data.String(), "")
	}
	if !c.Band {
		p.whiskers(series, c.Points)
	}
}

// barWidth returns the width of a curve's bars, in units of X.
func barWidth(c block.Curve) float64 {
	least := math.Inf(1)
	for i := 1; i < len(c.Points); i++ {
		least = min(least, math.Abs(c.Points[i].X-c.Points[i-1].X))
	}
	if math.IsInf(least, 0) {
		return 0.8
	}
	return 0.92 * least
}

// pieces returns the runs of points that have a place and satisfy a condition.
func (p *plot) pieces(points []block.Point, and func(block.Point) bool) (out [][]block.Point) {
	from := 0
	for i := 0; i <= len(points); i++ {
		if i < len(points) && p.shown(points[i]) && and(points[i]) {
			continue
		}
		if i > from {
			out = append(out, points[from:i])
		}
		from = i + 1
	}
	return out
}

// pointTitle returns the title of a point, with its numbers.
func (p *plot) pointTitle(c block.Curve, at block.Point) string {
	if at.Title != "" {
		return at.Title
	}
	over := block.Brief(at.X)
	if i := int(math.Round(at.X)); i >= 0 && i < len(p.Names) {
		over = p.Names[i]
	}
	number := block.Brief(at.Y)
	if at.Low < at.High {
		y, between := block.Interval(at.Y, at.Low, at.High)
		number = y + " " + between
	}
	if c.Name != "" {
		over = c.Name + ", " + over
	}
	return strings.ReplaceAll(over+": "+number, "-", "−")
}

// legend names the curves below the area, in rows, and returns its lower edge.
func (p *plot) legend(top float64) float64 {
	const sample, gap = 34.0, 22.0
	x, y, rows := p.left, top+14, false
	for i, c := range p.Curves {
		if c.Name == "" {
			continue
		}
		width := sample + textWidth(c.Name) + gap
		if rows && x+width-gap > p.left+p.Width+p.right {
			x, y = p.left, y+18
		}
		p.sample(p.series(i), c, x, y-4)
		p.Text("legend", x+sample, y, c.Name)
		x, rows = x+width, true
	}
	if !rows {
		return top + 4
	}
	return y + 10
}

// sample draws a curve's appearance in the legend.
func (p *plot) sample(series int, c block.Curve, x, y float64) {
	x, y = Tenth(x), Tenth(y)
	if c.Band || c.Look == block.Area {
		p.Path("band "+class(series), fmt.Sprintf("M%g %gh26v10h-26z", x, y-5), "")
	}
	switch c.Look {
	case block.Joined, block.Smooth:
		p.Path("line "+class(series), fmt.Sprintf("M%g %gh26", x, y), "")
	case block.Upright:
		p.Path("column "+class(series), fmt.Sprintf("M%g %gh8v10h-8zm10-4h8v14h-8z", x+4, y-5), "")
	}
	if c.Look == block.Joined || c.Look == block.Marks {
		mark := Pen{}
		mark.Mark(x+13, y, Shape(series))
		p.Path("mark "+class(series), mark.String(), "")
	}
}

// class returns the class of a series, which determines its colour, and the dash of lines.
func class(series int) string { return fmt.Sprintf("s%d", series%Series) }

func move(i int) string {
	if i == 0 {
		return "M"
	}
	return "L"
}
