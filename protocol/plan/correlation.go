package plan

import (
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofCorrelation() forecaster {
	return forecaster{
		kind: study.Correlation, pair: correlated, sums: summed(forecast.Sums.Correlation),
		tail: tailsOfProducts, divided: true, rounded: "a correlation",
		measure: "correlation", usable: standsOutOfAll,
		worth: func(f judgement) string {
			return "|ρ| ≥ " + detects(f.Chosen) + " stands out" + supposing(f.Supposes)
		},
		tooWide: "even |ρ| = 1 would not stand out of its interval",
	}
}

func correlated(q question, p forecast.Pair) (forecast.Error, error) {
	if q.analysis.Estimator() == study.E1 {
		return p.CorrelationE1()
	}
	return p.CorrelationE2()
}
