package plan

import (
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// meansDrown is the verdict on means whose intervals are too wide.
const meansDrown = "half of the interval of a mean would be wider than its column's spread"

func ofMean() forecaster {
	return forecaster{
		kind: study.Mean, sums: summed(forecast.Sums.Mean), asks: columnsAlone, tail: tailsOfMeans, ofBounds: true,
		names:   func(c *cell, q question) []analysis.Feature { return []analysis.Feature{c.named(q.x)} },
		measure: "share of the column's spread", usable: halfWithin,
		worth: func(f judgement) string {
			text := "means are known to ± "
			if f.OfBounds > 0 {
				text += percent(f.OfBounds) + " of the range of a column with bounds, and to ± "
			}
			return text + width(f.Chosen) + " of a column's spread"
		},
		tooWide: meansDrown,
	}
}

// columnsAlone returns questions about the columns of the union with the smallest and the largest
// spread.
func columnsAlone(c *cell, a study.Analysis) (out []question) {
	for _, x := range c.extremes(0) {
		out = append(out, question{a, x, x})
	}
	return out
}
