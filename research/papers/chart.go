package papers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
)

// newChart is a figure of a table; its name is that of its file.
func newChart(name, title, x, y string, curves ...figure.Curve) figure.Chart {
	return figure.Chart{ID: strings.ToLower(name), Title: title, Description: y + " over " + x + ".", X: figure.Dimension{Label: x}, Y: figure.Dimension{Label: y}, Curves: curves}
}

// logarithmic makes both axes so.
func logarithmic(c figure.Chart) figure.Chart {
	c.X.Log, c.Y.Log = true, true
	return c
}

// errorChart collects a table's lines as curves: published points, ours with an interval,
// theory.
type errorChart struct {
	chart                   figure.Chart
	published, ours, theory figure.Curve
	others                  []figure.Curve
}

func newErrorChart(name, title, x, y string) *errorChart {
	return &errorChart{
		chart:     newChart(name, title, x, y),
		published: figure.Curve{Name: "published", Look: figure.Marks}, ours: figure.Curve{Name: "ours", Band: true}, theory: figure.Curve{Name: "theory", Look: figure.Smooth},
	}
}

// add takes a line; NaN is for what it does not have.
func (c *errorChart) add(x, published, ours, low, high, theory float64) {
	put := func(to *figure.Curve, p figure.Point) {
		if !math.IsNaN(p.Y) {
			to.Points = append(to.Points, p)
		}
	}
	put(&c.published, figure.Point{X: x, Y: published})
	put(&c.ours, figure.Point{X: x, Y: ours, Low: low, High: high})
	put(&c.theory, figure.Point{X: x, Y: theory})
}

// also takes a point of another curve.
func (c *errorChart) also(name string, x, y, low, high float64) {
	at := slices.IndexFunc(c.others, func(o figure.Curve) bool { return o.Name == name })
	if at < 0 {
		at = len(c.others)
		one := figure.Curve{Name: name}
		if low == high {
			one.Look = figure.Marks // without an interval: published
		}
		c.others = append(c.others, one)
	}
	c.others[at].Points = append(c.others[at].Points, figure.Point{X: x, Y: y, Low: low, High: high})
}

// done is the chart of what was added.
func (c *errorChart) done() figure.Chart {
	for _, one := range append([]figure.Curve{c.ours, c.theory, c.published}, c.others...) {
		if len(one.Points) > 0 {
			c.chart.Curves = append(c.chart.Curves, one)
		}
	}
	return c.chart
}

// histogram counts values in 24 bins, beside a normal density of a deviation where there is
// one.
func histogram(name, title, x string, values []float64, deviation float64) figure.Chart {
	const bins = 24
	low, high := slices.Min(values), slices.Max(values)
	width := (high - low) / bins
	counts := figure.Curve{Name: fmt.Sprintf("%d values", len(values)), Look: figure.Bars}
	for b := range bins {
		counts.Points = append(counts.Points, figure.Point{X: low + (float64(b)+0.5)*width})
	}
	for _, v := range values {
		if at := int((v - low) / width); at >= 0 {
			counts.Points[min(bins-1, at)].Y++
		}
	}
	out := newChart(name, title, x, "values", counts)
	if deviation > 0 {
		line := figure.Curve{Name: "normal, by theory", Look: figure.Smooth}
		for i := range 81 {
			v := low + float64(i)*(high-low)/80
			line.Points = append(line.Points, figure.Point{X: v, Y: float64(len(values)) * width * math.Exp(-v*v/2/deviation/deviation) / deviation / math.Sqrt(2*math.Pi)})
		}
		out.Curves = append(out.Curves, line)
	}
	return out
}
