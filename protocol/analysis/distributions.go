package analysis

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// Distributions is the section of quantile: of each of the analysis's features, in original units.
//
//section:distributions,by=features of quantile: by feature
type Distributions []Distribution

// Distribution is the distribution of a column's values.
type Distribution struct {
	Present   Number       `json:"present"`              // number of records with a value
	Quantiles []QuantileAt `json:"quantiles" by:"share"` // in the order in which they were asked for
	Histogram []Bar        `json:"histogram" by:"bar"`   // adjacent bars over all bins; empty if the records with a value do not stand out of the noise
}

// QuantileAt is the value below which a share of the records lies that have one.
type QuantileAt struct {
	Share    float64 `json:"share"`               // share of the records with a value
	Quantile Number  `json:"quantile"`            // its interval covers noise and bins; its standard error is that of a normal error with an equally wide interval
	OpenLow  bool    `json:"open_low,omitempty"`  // the interval has no lower end: values lie below the first bin, and Low is the start of what is resolved
	OpenHigh bool    `json:"open_high,omitempty"` // the interval has no upper end: values lie above the last bin, and High is the end of what is resolved
}

// Bar is the number of records in a part of the range.
type Bar struct {
	From  float64 `json:"from"`  // lower end, in original units; the first bar also counts values below it
	To    float64 `json:"to"`    // upper end, in original units; the last bar also counts values above it
	Count Number  `json:"count"` // number of records
}

func (ds Distributions) check(a Analysis) error {
	if len(ds) != len(a.Features) {
		return fmt.Errorf("%d distributions of %d features", len(ds), len(a.Features))
	}
	for i, d := range ds {
		numbers := []Number{d.Present}
		for _, q := range d.Quantiles {
			numbers = append(numbers, q.Quantile)
		}
		for j, bar := range d.Histogram {
			if !(bar.From < bar.To) || j > 0 && bar.From != d.Histogram[j-1].To {
				return fmt.Errorf("distribution %d: bar %d from %g to %g", i+1, j+1, bar.From, bar.To)
			}
			numbers = append(numbers, bar.Count)
		}
		for _, n := range numbers {
			if err := n.check(); err != nil {
				return fmt.Errorf("distribution %d: %w", i+1, err)
			}
		}
	}
	return nil
}

func (ds Distributions) people() (out []Number) {
	for _, d := range ds {
		for _, q := range d.Quantiles {
			out = append(out, q.Quantile)
		}
		for _, bar := range d.Histogram {
			out = append(out, bar.Count)
		}
	}
	return out
}

func (Distributions) covers() string { return "the noise and the width of bins" }

func (ds Distributions) nothing() string {
	n := 0
	for _, d := range ds {
		if slices.ContainsFunc(d.Quantiles, func(q QuantileAt) bool { return q.Quantile.whole() }) {
			return ""
		}
		n += len(d.Quantiles)
	}
	return fmt.Sprintf("0 of %d quantiles can be told", n)
}

// quantiles answers the quantiles of the columns asked for, and their histograms.
func (c *counts) quantiles(ctx context.Context, a study.Analysis, out *Analysis) error {
	o, ok := a.Options.(study.QuantileOptions)
	if !ok {
		return fmt.Errorf("options of kind %T", a.Options)
	}
	out.Units = measure.Original
	if c.plan.Study.CountsAbsent(c.plan.Index) {
		out.Assumptions = append(out.Assumptions, premise.OfPresent)
	}
	var all []*estimate.Ranked
	var bars [][]estimate.Ends
	asked, numbers := o.Tables(c.plan.Sketch().Tables), 0
	for _, at := range asked {
		ranked, err := c.ranked(c.tables[at])
		if err != nil {
			return err
		}
		all, bars = append(all, ranked), append(bars, ranked.Histogram())
		numbers += 1 + len(o.At) + len(ranked.Histogram())
	}
	level := out.promise(a, numbers)
	beyond := false
	for i, at := range asked {
		if err := ctx.Err(); err != nil {
			return err
		}
		edges, open := c.plan.Study.Edges(c.plan.Index, c.tables[at].Table)
		beyond = beyond || open
		f := Feature{Column: c.tables[at].Of[0].Column}
		f.Date = slices.ContainsFunc(c.plan.Study.Columns, func(of study.Column) bool { return of.Date && of.Name == f.Column })
		out.Features = append(out.Features, f)
		d := Distribution{Present: number(all[i].Total(level)), Quantiles: []QuantileAt{}, Histogram: []Bar{}}
		for _, q := range o.At {
			e, in := all[i].Quantile(q, edges, level)
			one := QuantileAt{Share: q, Quantile: number(e).dated(f)}
			if e.Defined() && open {
				one.OpenLow, one.OpenHigh = in.From == 0, in.To == all[i].Bins()
			}
			d.Quantiles = append(d.Quantiles, one)
		}
		for _, bar := range bars[i] {
			d.Histogram = append(d.Histogram, Bar{From: edges[bar.From], To: edges[bar.To], Count: number(all[i].Between(bar, level))})
		}
		out.Distributions = append(out.Distributions, d)
	}
	if beyond {
		out.Assumptions = append(out.Assumptions, premise.BeyondEnds)
	}
	return nil
}

// QuantileColumns returns the tables that an analysis asks for, of the sketch that answers it.
func QuantileColumns(s *study.Study, a study.Analysis) (tables []study.Table) {
	o, _ := a.Options.(study.QuantileOptions)
	index, ok := s.SketchFor(a)
	if !ok {
		return nil
	}
	for _, at := range o.Tables(s.Sketches[index].Tables) {
		tables = append(tables, s.Sketches[index].Tables[at])
	}
	return tables
}

// QuantileIntervals returns the largest number of intervals of such an analysis.
func QuantileIntervals(s *study.Study, a study.Analysis) int {
	o, _ := a.Options.(study.QuantileOptions)
	return len(QuantileColumns(s, a)) * (1 + len(o.At) + estimate.MostBars)
}

func ofQuantiles() kind {
	return kind{
		name: study.QuantileKind, ways: []way{onCounts((*counts).quantiles)},
		size:  func(t *taken) Size { return numbers(int64(QuantileIntervals(t.study, t.asked))) },
		most:  func(t *taken) int64 { return mostNumbers(int64(QuantileIntervals(t.study, t.asked))) },
		asked: study.QuantileOptions{At: make([]float64, study.MostQuantiles)},
	}
}
