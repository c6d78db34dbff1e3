package plan

import (
	"math"

	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// The covariance of a column with itself is its variance.
func ofCovariance() forecaster {
	return forecaster{
		kind: study.Covariance, tail: tailsOfProducts,
		asks: func(c *cell, a study.Analysis) []question { return c.pairs(a, true) },
		pair: func(q question, p forecast.Pair) (forecast.Error, error) {
			if q.x == q.y {
				return p.Variance()
			}
			return p.Covariance()
		},
		sums: func(q question, s forecast.Sums) (forecast.Error, error) {
			if q.x == q.y {
				return s.Variance()
			}
			return s.Covariance()
		},
		cut: func(c *cell, q question, e forecast.Error) forecast.Error {
			most := c.mostCovariance(q)
			if q.x == q.y {
				return e.Clamped(1, 0, most)
			}
			if math.IsInf(most, 1) {
				return e
			}
			return e.Clamped(0, -most, most)
		},
		measure: "share of the product of both spreads", usable: standsOut,
		worth: func(f judgement) string {
			return "covariances of at least " + detects(f.Chosen) + " of the product of both spreads stand out"
		},
		tooWide: "even the largest covariance that the columns can have would not stand out of its interval",
	}
}

// mostCovariance returns the largest possible covariance of two columns between bounds, in units of
// the product of both spreads. Answers are cut to it. For other columns it is infinite.
func (c *cell) mostCovariance(q question) float64 {
	spreads := 1.0
	for _, p := range []place{q.x, q.y} {
		if _, _, bounded := c.Study.Columns[p.feature.Column].Scale.Bounds(); !bounded {
			return math.Inf(1)
		}
		spreads *= c.encoded(p.feature).Spread
	}
	return analysis.MostVariance / spreads
}
