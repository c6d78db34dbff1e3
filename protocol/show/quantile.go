package show

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofQuantile() kind {
	return kind{name: study.QuantileKind, title: "quantiles", own: func(s *section) { s.distributions(s.a.Distributions) }}
}

// quantileName returns the name of a quantile for people.
func quantileName(share float64) string {
	switch share {
	case 0.5:
		return "median"
	case 0.25:
		return "lower quartile"
	case 0.75:
		return "upper quartile"
	}
	return block.Digits(100*share, 4) + " %"
}

// medians states the medians of a few columns in a line, or says for how many columns there are
// quantiles.
func (s *section) medians(ds analysis.Distributions) string {
	const few = 3
	var out []string
	for i, d := range ds {
		for _, q := range d.Quantiles {
			if n := q.Quantile.Shown(); q.Share == 0.5 && len(ds) <= few {
				n.OpenLow, n.OpenHigh = q.OpenLow, q.OpenHigh
				number, between := n.Parts()
				out = append(out, strings.TrimSpace("the median of "+s.a.Features[i].Name()+" is "+number+" "+between))
			}
		}
	}
	if len(out) == 0 {
		return "of " + block.Counted(int64(len(ds)), "column", "columns")
	}
	return strings.Join(out, "; ")
}

// distributions shows quantiles of all columns in a table, and a histogram of each with its
// quantiles marked.
func (s *section) distributions(ds analysis.Distributions) {
	s.skip("distributions", "distributions_quantiles", "distributions_quantiles_quantile_dates", "distributions_histogram", "features")
	s.heading.Says = s.medians(ds)
	t := block.Table{
		Caption: "Quantiles, in original units", Things: "quantiles", HasFigure: true,
		Columns: append([]block.Column{block.Words("column"), block.Words("quantile"), block.Numbers("records below, %")}, block.Estimates("value", true)...),
	}
	for i, d := range ds {
		name := s.a.Features[i].Name()
		for _, q := range d.Quantiles {
			n := q.Quantile.Shown()
			n.OpenLow, n.OpenHigh = q.OpenLow, q.OpenHigh
			t.Rows = append(t.Rows, append(block.Cells(name, quantileName(q.Share), block.Digits(100*q.Share, 4)), n.Cells(true)...))
		}
	}
	if slices.ContainsFunc(ds, func(d analysis.Distribution) bool {
		return slices.ContainsFunc(d.Quantiles, func(q analysis.QuantileAt) bool { return q.OpenLow || q.OpenHigh })
	}) {
		s.note("“…” marks an interval without an end: the quantile may be in the first or the last bin, which include all values more than three spreads from the centre.")
	}
	t.Of = len(t.Rows)
	t.Rows = t.Rows[:min(len(t.Rows), block.MostRows)]
	s.tables = append(s.tables, t)
	if more := len(ds) - mostCounted; more > 0 {
		s.note("Histograms of the first %d columns are shown; those of %d more are in the result's files.", mostCounted, more)
	}
	for i, d := range ds[:min(len(ds), mostCounted)] {
		f := s.a.Features[i]
		name := f.Name()
		if present := d.Present.Shown(); present.Undefined == "" && present.Low < present.High {
			s.note("%s: %s records have a value.", name, present)
		}
		if len(d.Histogram) == 0 {
			continue
		}
		s.figure(fmt.Sprintf("histogram-%d", i+1), histogram(f, d))
		bars := block.Table{
			Caption: "Histogram of " + name, Things: "bars", HasFigure: true, Of: len(d.Histogram),
			Columns: append([]block.Column{block.Numbers("from"), block.Numbers("to below")}, block.Estimates("records", true)...),
		}
		for _, b := range d.Histogram[:min(len(d.Histogram), block.MostRows)] {
			from, to := ends(f, b)
			bars.Rows = append(bars.Rows, append(block.Cells(from, to), b.Count.Shown().Cells(true)...))
		}
		s.tables = append(s.tables, bars)
	}
}

// histogram draws bars at their middles, with the quantiles. If widths differ much, the axis is
// logarithmic for values above 0; with others the bars are side by side.
func histogram(f analysis.Feature, d analysis.Distribution) block.Figure {
	const uneven = 5
	name := f.Name()
	x, least, most := block.Dimension{Label: name, Dates: f.Date}, math.Inf(1), 0.0
	for _, b := range d.Histogram[min(1, len(d.Histogram)-1):max(1, len(d.Histogram)-1)] {
		least, most = min(least, b.To-b.From), max(most, b.To-b.From)
	}
	if most > uneven*least && d.Histogram[0].From <= 0 {
		return unevenHistogram(f, d)
	}
	x.Log = most > uneven*least && !f.Date
	curve := block.Curve{Look: block.Upright}
	for _, b := range d.Histogram {
		n, middle := b.Count.Shown(), (b.From+b.To)/2
		if x.Log {
			middle = math.Sqrt(b.From * b.To)
		}
		if p := block.PointOf(middle, n); n.Undefined == "" {
			from, to := block.Brief(b.From), block.Brief(b.To)
			if f.Date {
				from, to = block.Day(b.From), block.Day(b.To)
			}
			p.Title = from + " to " + to + ": " + n.Long() + " records"
			if !f.Date {
				p.Title = minus(p.Title)
			}
			curve.Points = append(curve.Points, p)
		}
	}
	plot := block.Chart{Height: 220, Width: 560, X: x, Y: block.Dimension{Label: "records", Include: []float64{0}}, Curves: []block.Curve{curve}}
	for _, q := range d.Quantiles {
		if n := q.Quantile.Shown(); n.Undefined == "" && len(d.Quantiles) <= 5 {
			plot.References = append(plot.References, block.Reference{Name: quantileName(q.Share), At: n.Value, Upright: true})
		}
	}
	return block.Figure{
		Title: "Histogram of " + name, Plot: plot,
		Description: fmt.Sprintf("%d bars at the middles of parts of the range, with intervals, and lines at the quantiles.", len(curve.Points)),
		Caption:     "Whiskers are intervals " + block.ForRecords + ". The first and last bars include all values beyond them; the table below gives the range of each bar.",
	}
}

// ends formats both ends of a bar: as dates, or as numbers to two digits of the bar's width.
func ends(f analysis.Feature, b analysis.Bar) (from, to string) {
	if f.Date {
		return block.Day(b.From), block.Day(b.To)
	}
	from, _ = block.Interval(b.From, b.From, b.To)
	to, _ = block.Interval(b.To, b.From, b.To)
	return from, to
}

// unevenHistogram draws bars side by side, each labelled with its ends.
func unevenHistogram(f analysis.Feature, d analysis.Distribution) block.Figure {
	name := f.Name()
	var names []string
	var numbers []block.Number
	for _, b := range d.Histogram {
		from, to := ends(f, b)
		names, numbers = append(names, from+" to "+to), append(numbers, b.Count.Shown())
	}
	return block.Figure{
		Title: "Histogram of " + name, Plot: bars(names, "records", numbers),
		Description: fmt.Sprintf("%d bars of the records in parts of the range of %s, which are wider where it is larger, with intervals.", len(names), name),
		Caption:     "Bars are of parts of " + name + " that are wider where it is larger. Whiskers are intervals " + block.ForRecords + ".",
	}
}
