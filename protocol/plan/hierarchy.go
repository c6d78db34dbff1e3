package plan

import (
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofClustering() forecaster {
	return forecaster{
		kind: study.Clustering, pair: pairwise(forecast.Pair.CorrelationE2), tail: tailsOfProducts, divided: true,
		measure: "correlation", usable: standsOutOfAll,
		worth: func(f judgement) string {
			return "columns with |ρ| ≥ " + detects(f.Chosen) + " are told from unrelated ones" + supposing(f.Supposes)
		},
		tooWide: "even columns with |ρ| = 1 would not be told from unrelated ones",
	}
}

func ofColumnSums() forecaster {
	return forecaster{
		kind: study.Sums, pair: pairwise(forecast.Pair.Mean), asks: (*cell).summing, tail: tailsOfMeans,
		intervals: func(c *cell, _ study.Analysis) int { return 2 * len(c.places()) * c.apart() },
		measure:   "mean, as share of the column's spread", usable: halfWithin,
		worth: func(f judgement) string {
			return "means are known to ± " + width(f.Chosen) + " of their column's spread"
		},
		tooWide: meansDrown,
	}
}

// summing returns the questions of sums: the columns of a party over the records of each other one,
// or of the union over its own.
func (c *cell) summing(a study.Analysis) (out []question) {
	for party := range c.Study.Parties {
		for _, x := range c.extremes(party) {
			for other := range c.Study.Parties {
				if other != party || c.union() {
					out = append(out, question{a, x, onesOf(other)})
				}
				if c.union() {
					break
				}
			}
		}
		if c.union() {
			break
		}
	}
	return out
}
