package papers

import (
	"fmt"
	"math"
	"slices"
)

// chart is a figure: curves over numbers.
type chart struct {
	name       string // of its file
	title      string
	x, y       string // what the axes are
	logX, logY bool
	curves     []curve
}

// curve is a line, or with marks alone what was published or drawn.
type curve struct {
	name   string
	points []point
	marks  bool // points without a line
	band   bool // Low and High are a band, not whiskers
	bars   bool // from zero: a histogram
}

// point has ends of an interval where they differ.
type point struct{ x, y, low, high float64 }

// errorChart collects a table's lines as curves: published points, ours with an interval,
// theory.
type errorChart struct {
	chart
	published, ours, theory curve
	others                  []curve
}

func newErrorChart(name, title, x, y string) *errorChart {
	return &errorChart{
		chart:     chart{name: name, title: title, x: x, y: y},
		published: curve{name: "published", marks: true}, ours: curve{name: "ours", band: true}, theory: curve{name: "theory"},
	}
}

// add takes a line; NaN is for what it does not have.
func (c *errorChart) add(x, published, ours, low, high, theory float64) {
	put := func(to *curve, p point) {
		if !math.IsNaN(p.y) {
			to.points = append(to.points, p)
		}
	}
	put(&c.published, point{x: x, y: published})
	put(&c.ours, point{x, ours, low, high})
	put(&c.theory, point{x: x, y: theory})
	c.settle()
}

// also takes a point of another curve.
func (c *errorChart) also(name string, x, y, low, high float64) {
	at := slices.IndexFunc(c.others, func(o curve) bool { return o.name == name })
	if at < 0 {
		at = len(c.others)
		c.others = append(c.others, curve{name: name, band: low != high})
	}
	c.others[at].points = append(c.others[at].points, point{x, y, low, high})
	c.settle()
}

func (c *errorChart) settle() {
	c.curves = nil
	for _, one := range append([]curve{c.ours, c.theory, c.published}, c.others...) {
		if len(one.points) > 0 {
			c.curves = append(c.curves, one)
		}
	}
}

// histogram counts values in 24 bins, beside a normal density of a deviation where there is
// one.
func histogram(name, title, x string, values []float64, deviation float64) chart {
	const bins = 24
	low, high := slices.Min(values), slices.Max(values)
	width := (high - low) / bins
	counts := curve{name: fmt.Sprintf("%d values", len(values)), bars: true}
	for b := range bins {
		counts.points = append(counts.points, point{x: low + (float64(b)+0.5)*width})
	}
	for _, v := range values {
		counts.points[min(bins-1, int((v-low)/width))].y++
	}
	out := chart{name: name, title: title, x: x, y: "values", curves: []curve{counts}}
	if deviation > 0 {
		line := curve{name: "normal, by theory"}
		for i := range 81 {
			v := low + float64(i)*(high-low)/80
			line.points = append(line.points, point{x: v, y: float64(len(values)) * width * math.Exp(-v*v/2/deviation/deviation) / deviation / math.Sqrt(2*math.Pi)})
		}
		out.curves = append(out.curves, line)
	}
	return out
}
