package papers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/block"
)

// newChart returns a figure of a table; name is its file name.
func newChart(name, title, x, y string, curves ...block.Curve) figure.Chart {
	return figure.Chart{
		ID:          strings.ToLower(name),
		Title:       title,
		Description: y + " over " + x + ".",
		Chart: block.Chart{
			X:      block.Dimension{Label: x},
			Y:      block.Dimension{Label: y},
			Curves: curves,
		},
	}
}

// logarithmic makes both axes logarithmic.
func logarithmic(c figure.Chart) figure.Chart {
	c.X.Log, c.Y.Log = true, true
	return c
}

// errorChart collects a table's lines as curves: published points, our results with an interval,
// and theory.
type errorChart struct {
	chart                   figure.Chart
	published, ours, theory block.Curve
	others                  []block.Curve
}

func newErrorChart(name, title, x, y string) *errorChart {
	return &errorChart{
		chart:     newChart(name, title, x, y),
		published: block.Curve{Name: "published", Look: block.Marks}, ours: block.Curve{Name: "ours", Band: true}, theory: block.Curve{Name: "theory", Look: block.Smooth},
	}
}

// add adds a line; NaN is for missing values.
func (c *errorChart) add(x, published, ours, low, high, theory float64) {
	put := func(to *block.Curve, p block.Point) {
		if !math.IsNaN(p.Y) {
			to.Points = append(to.Points, p)
		}
	}
	put(&c.published, block.Point{X: x, Y: published})
	put(&c.ours, block.Point{X: x, Y: ours, Low: low, High: high})
	put(&c.theory, block.Point{X: x, Y: theory})
}

// also adds a point to another curve.
func (c *errorChart) also(name string, x, y, low, high float64) {
	at := slices.IndexFunc(c.others, func(o block.Curve) bool { return o.Name == name })
	if at < 0 {
		at = len(c.others)
		one := block.Curve{Name: name}
		if low == high {
			one.Look = block.Marks // published values have no interval
		}
		c.others = append(c.others, one)
	}
	c.others[at].Points = append(c.others[at].Points, block.Point{X: x, Y: y, Low: low, High: high})
}

// done returns the chart.
func (c *errorChart) done() figure.Chart {
	for _, one := range append([]block.Curve{c.ours, c.theory, c.published}, c.others...) {
		if len(one.Points) > 0 {
			c.chart.Curves = append(c.chart.Curves, one)
		}
	}
	return c.chart
}

// histogram counts values in 24 bins. A positive deviation adds the normal density with that
// standard deviation.
func histogram(name, title, x string, values []float64, deviation float64) figure.Chart {
	const bins = 24
	low, high := slices.Min(values), slices.Max(values)
	width := (high - low) / bins
	counts := block.Curve{Name: fmt.Sprintf("%d values", len(values)), Look: block.Upright}
	for b := range bins {
		counts.Points = append(counts.Points, block.Point{X: low + (float64(b)+0.5)*width})
	}
	for _, v := range values {
		if at := int((v - low) / width); at >= 0 {
			counts.Points[min(bins-1, at)].Y++
		}
	}
	out := newChart(name, title, x, "values", counts)
	if deviation > 0 {
		line := block.Curve{Name: "normal, by theory", Look: block.Smooth}
		for i := range 81 {
			v := low + float64(i)*(high-low)/80
			line.Points = append(line.Points, block.Point{X: v, Y: float64(len(values)) * width * math.Exp(-v*v/2/deviation/deviation) / deviation / math.Sqrt(2*math.Pi)})
		}
		out.Curves = append(out.Curves, line)
	}
	return out
}
