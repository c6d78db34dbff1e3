package analysis

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cosketch/cosketch/kernel/estimate"
)

// Evidence is what stands out of an analysis's pairs, all together: that none of Pairs is 0 in truth is right with
// probability 95 %, however many were compared.
type Evidence struct {
	Pairs []Pair // the clearest first
	Of    int64  // pairs that were compared
	Alone int    // of those that are here, how many leave 0 out by their own interval
	Least bool   // there may be more: of a dense table only the clearest are here
}

// Evidence applies the rule of Holm (1979) to the pairs that the analysis compares, each by how many standard errors the
// nearer end of its widest interval puts between it and 0. Of none is known what an analysis without pairs has.
func (a Analysis) Evidence() (e Evidence, ok bool) {
	var pairs []Pair
	if a.Dense != nil {
		pairs, e.Of = a.Dense.Gist.Clearest, a.Dense.Gist.Compared
	} else {
		pairs, _ = a.compared()
		e.Of = int64(len(pairs))
	}
	if e.Of == 0 || a.Undefined != "" {
		return Evidence{}, false
	}
	level := cmp.Or(a.EachLevel, a.Level, float64(estimate.DefaultLevel))
	type tested struct {
		Pair
		chance float64 // of a number as far from 0, if in truth it were 0
	}
	var all []tested
	for _, p := range pairs {
		if p.Told() {
			e.Alone++
		}
		if p.whole() && !a.Unanswered(p.Number) {
			all = append(all, tested{p, p.chance(level)})
		}
	}
	slices.SortStableFunc(all, func(a, b tested) int { return cmp.Compare(a.chance, b.chance) })
	const allowed = 1 - float64(estimate.DefaultLevel)
	for i, t := range all {
		if t.chance > allowed/float64(e.Of-int64(i)) {
			return e, true
		}
		e.Pairs = append(e.Pairs, t.Pair)
	}
	e.Least = a.Dense != nil && int64(len(all)) < e.Of && len(all) > 0
	return e, true
}

// chance is the probability of a number that is at least as far from 0 as this, if it were 0 in truth: its widest
// interval, of this level, is taken to end as many standard errors from it as that of a normal law.
func (n Number) chance(level float64) float64 {
	x, low, high := *n.Estimate, *n.Low, *n.High
	if n.PopulationLow != nil && n.PopulationHigh != nil {
		low, high = *n.PopulationLow, *n.PopulationHigh
	}
	away := x - low
	if x < 0 {
		away = high - x
	}
	if x == 0 {
		return 1
	}
	errors := distuv.UnitNormal.Quantile((1+level)/2) * math.Abs(x) / math.Max(away, 0)
	return math.Erfc(errors / math.Sqrt2)
}
