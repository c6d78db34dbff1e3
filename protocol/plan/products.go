package plan

import (
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofInnerProduct() forecaster {
	return forecaster{
		kind: study.InnerProduct, pair: pairwise(forecast.Pair.InnerProduct), tail: tailsOfProducts,
		measure: "share of |x||y|", usable: standsOut,
		worth:   func(f judgement) string { return "products of at least " + detects(f.Chosen) + " of |x||y| stand out" },
		tooWide: "even the largest product that the columns can have would not stand out of its interval",
	}
}

func ofDistance() forecaster {
	return forecaster{
		kind: study.Distance, pair: pairwise(forecast.Pair.Distance), relative: true,
		measure: "share of the squared distance", usable: withinItself,
		worth:   func(f judgement) string { return "distances are known to ± " + width(f.Chosen) },
		tooWide: "the standard error of a distance would exceed the distance itself",
	}
}

func ofCosine() forecaster {
	return forecaster{
		kind: study.Cosine, pair: pairwise(forecast.Pair.Cosine), tail: tailsOfProducts,
		measure: "cosine", usable: standsOutOfAll,
		worth:   func(f judgement) string { return "|cosine| ≥ " + detects(f.Chosen) + " stands out" },
		tooWide: "even a cosine of 1 would not stand out of its interval",
	}
}

func ofIntersection() forecaster {
	return forecaster{
		kind: study.Intersection, pair: pairwise(forecast.Pair.Intersection), asks: pairsOfCounts,
		measure: "share of the shared records",
		usable:  func(e forecast.Error) bool { return standsOut(e) && e.HalfWidth < 0.5 }, // wider ones are cut off at the record counts
		worth:   func(f judgement) string { return "the number is known to ± " + width(f.Chosen) },
		tooWide: "half of the interval of the number of shared records would be wider than half of that number",
	}
}

// pairsOfCounts returns the parties' record counts, each with those of others.
func pairsOfCounts(c *cell, a study.Analysis) []question {
	var groups [][]place
	for party := range c.apart() {
		groups = append(groups, []place{onesOf(party)})
	}
	return c.across(a, groups, false)
}
