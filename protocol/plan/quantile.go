package plan

import (
	"math"

	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// Quantiles are judged by the rank with the largest error, of the column whose bins say least.
func ofQuantiles() forecaster {
	return forecaster{
		kind: study.QuantileKind, asks: once, about: nowhere, names: unnamed, inward: true,
		other:     map[sketch.Side]errorFunc{sketch.Counts: (*cell).rank},
		intervals: func(c *cell, a study.Analysis) int { return analysis.QuantileIntervals(c.Study, a) },
		measure:   "share of the records, by which a rank errs", usable: func(e forecast.Error) bool { return e.HalfWidth <= usefulRank },
		worth: func(f judgement) string {
			return "the rank of a quantile is known to ± " + width(f.Chosen) + " of the records, where its interval is widest"
		},
		tooWide: "the rank of a quantile would be known to worse than ± 15 % of the records. In a table without depth, more bins help, or depth instead",
	}
}

// usefulRank is the largest useful error of a quantile's rank: a median then lies roughly in the
// middle third.
const usefulRank = 0.15

// rank forecasts the rank of the quantile with the largest error.
func (c *cell) rank(q question) (worst forecast.Error, err error) {
	f, err := c.counted(q)
	if err != nil {
		return worst, err
	}
	o, _ := q.analysis.Options.(study.QuantileOptions)
	for _, t := range analysis.QuantileColumns(c.Study, q.analysis) {
		edges, _ := c.Study.Edges(c.index, t)
		for _, at := range o.At {
			e := f.Rank(at, t.Depth, len(edges)-1, c.Study.CountsAbsent(c.index))
			if e.Undefined != "" || math.IsNaN(e.HalfWidth) {
				return e, nil
			}
			if e.HalfWidth > worst.HalfWidth {
				worst = e
			}
		}
	}
	return worst, nil
}
