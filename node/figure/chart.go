package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/protocol/block"
)

// Chart is a stand-alone figure of curves.
type Chart struct {
	ID, Title, Description, Caption string
	block.Chart
}

func (c Chart) Figure() Figure {
	return New(block.Figure{ID: c.ID, Title: c.Title, Description: c.Description, Caption: c.Caption, Plot: c.Chart})
}

// mostMarked bounds the points of a chart that can have titles with their numbers, and mostPoints
// the points drawn of one curve: with more, the page would be large.
const (
	mostMarked = 120
	mostPoints = 1500
)

// chart draws curves.
func chart(c block.Chart) drawn {
	p := plot{Chart: c, Drawing: &Drawing{}}
	if p.Width == 0 {
		p.Width = 520
	}
	if p.Height == 0 {
		p.Height = 300
	}
	p.prepare()
	p.frame()
	for i, curve := range p.Curves {
		p.band(p.series(i), curve)
	}
	p.references()
	for i, curve := range p.Curves {
		p.curve(p.series(i), curve)
	}
	below := p.legend(p.bottom)
	return drawn{p.Drawing, p.left + p.Width + p.right, below, 0.75, "", p.omitted, p.omitted}
}

// plot is a chart being drawn.
type plot struct {
	block.Chart
	*Drawing
	x, y             Axis
	left, right, top float64 // margins of the plotting area
	bottom           float64 // lower edge of the text below the area
	marked           bool    // points have titles
	omitted          string  // text about points that are not drawn
}

// series returns the number of a curve's colour.
func (p *plot) series(i int) int {
	if of := p.Curves[i].Of; of > 0 {
		return of - 1
	}
	return i
}

// prepare lays out the area and the axes.
func (p *plot) prepare() {
	p.settle()
	p.Names = slices.Clone(p.Names)
	for i, name := range p.Names {
		p.Names[i] = shortened(name)
	}
	xs, ys := p.extent()
	p.y = axisOf(p.Y, 0, 0, ys)
	p.left, p.right, p.top = 14, 14, 10
	for _, t := range p.y.Ticks() {
		p.left = max(p.left, 14+textWidth(t.Text))
	}
	if p.Y.Label != "" {
		p.top += 20
	}
	above := 0.0
	for _, r := range p.References {
		if r.Upright {
			above = 16
		} else {
			p.right = max(p.right, 14+textWidth(r.Name))
		}
	}
	p.top += above
	if n := len(p.Names); n > 0 {
		p.x = Axis{Low: -0.5, High: float64(n) - 0.5, From: p.left, To: p.left + p.Width}
	} else {
		p.x = axisOf(p.X, p.left, p.left+p.Width, xs)
		last := p.x.Ticks()[len(p.x.Ticks())-1]
		p.right = max(p.right, 4+textWidth(last.Text)/2)
	}
	p.y = axisOf(p.Y, p.top+p.Height, p.top, ys)
}

// extent returns the numbers that the axes must hold.
func (p *plot) extent() (xs, ys []float64) {
	total := 0
	for _, c := range p.Curves {
		total += len(c.Points)
		for _, at := range c.Points {
			if !p.shown(at) {
				continue
			}
			xs, ys = append(xs, at.X), append(ys, at.Y)
			if at.Low < at.High {
				ys = append(ys, at.Low, at.High)
			}
		}
		if c.Look == block.Upright && !p.Y.Log {
			ys = append(ys, 0)
		}
		if half := barWidth(c) / 2; c.Look == block.Upright && len(c.Points) > 0 && !p.X.Log {
			xs = append(xs, c.Points[0].X-half, c.Points[len(c.Points)-1].X+half)
		}
	}
	for _, r := range p.References {
		if r.Upright {
			xs = append(xs, r.At)
		} else {
			ys = append(ys, r.At)
		}
	}
	p.marked = total <= mostMarked
	return xs, ys
}

// axisOf returns the axis of a dimension for the given numbers.
func axisOf(d block.Dimension, from, to float64, numbers []float64) Axis {
	numbers = append(numbers, d.Include...)
	if d.Low != 0 || d.High != 0 {
		numbers = []float64{d.Low, d.High}
	}
	if d.Log {
		return NewLogAxis(from, to, numbers...)
	}
	a := NewAxis(from, to, numbers...)
	a.Dates = d.Dates
	return a
}

// settle keeps every n-th point of long curves, and notes that. Points of areas are moved to the
// upper end of their intervals.
func (p *plot) settle() {
	p.Curves = slices.Clone(p.Curves)
	for i, c := range p.Curves {
		if c.Look == block.Area {
			c.Points = slices.Clone(c.Points)
			for j := range c.Points {
				c.Points[j].Y = c.Points[j].High
			}
			p.Curves[i].Points = c.Points
		}
		stride := (len(c.Points) + mostPoints - 1) / mostPoints
		if stride <= 1 {
			continue
		}
		var kept []block.Point
		for j := 0; j < len(c.Points); j += stride {
			kept = append(kept, c.Points[j])
		}
		p.Curves[i].Points = kept
		p.omitted += fmt.Sprintf(" Shows %d of the %d points of %s.", len(kept), len(c.Points), cmp.Or(c.Name, "a curve"))
	}
}

// shown reports whether a point has a place on both axes.
func (p *plot) shown(at block.Point) bool {
	fits := func(x float64, log bool) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) && (!log || x > 0) }
	return fits(at.X, p.X.Log) && fits(at.Y, p.Y.Log)
}

// frame draws the axes with their ticks and labels.
func (p *plot) frame() {
	low, high, right := p.top+p.Height, p.top, p.left+p.Width
	p.YAxis(p.y, p.left, right)
	p.bottom = low + 22
	if len(p.Names) > 0 {
		p.names(low)
	} else {
		p.XAxis(p.x, high, low)
	}
	p.Rect("frame", p.left, high, p.Width, p.Height)
	if p.Y.Label != "" {
		p.Text("soft", 1, 12, p.Y.Label)
	}
	if p.X.Label != "" {
		p.bottom += 16
		p.Text("soft mid", p.left+p.Width/2, p.bottom, p.X.Label)
		p.bottom += 6
	}
}

// names writes categories below the area, rotated if they would overlap.
func (p *plot) names(low float64) {
	pitch, longest := p.Width/float64(len(p.Names)), 0.0
	for _, name := range p.Names {
		longest = max(longest, textWidth(name))
	}
	for i, name := range p.Names {
		at := p.x.At(float64(i))
		if longest > pitch-6 {
			p.Upwards("soft end", at+4, low+6, name)
			continue
		}
		p.Text("soft mid", at, low+16, name)
	}
	if longest > pitch-6 {
		p.bottom += longest - 8
	}
}

// references draws the reference lines, each with its name at its end; names do not overlap.
func (p *plot) references() {
	across, upright := []block.Reference{}, []block.Reference{}
	for _, r := range p.References {
		if r.Upright {
			upright = append(upright, r)
		} else {
			across = append(across, r)
		}
	}
	slices.SortStableFunc(across, func(a, b block.Reference) int { return cmp.Compare(b.At, a.At) })
	next := 0.0
	for _, r := range across {
		y := p.y.At(r.At)
		p.Path("ref", fmt.Sprintf("M%g %gH%g", p.left, y, p.left+p.Width), "")
		next = max(next+14, y+4)
		p.Text("name", p.left+p.Width+6, next, r.Name)
	}
	slices.SortStableFunc(upright, func(a, b block.Reference) int { return cmp.Compare(a.At, b.At) })
	free := 0.0
	for _, r := range upright {
		x, half := p.x.At(r.At), textWidth(r.Name)/2
		p.Path("ref", fmt.Sprintf("M%g %gV%g", x, p.top, p.top+p.Height), "")
		middle := max(min(x, p.left+p.Width+p.right-half), free+half, half)
		p.Text("name mid", middle, p.top-5, r.Name)
		free = middle + half + 8
	}
}

// textWidth returns the approximate width of a text in pixels.
func textWidth(s string) float64 { return 6.7 * float64(len([]rune(s))) }
