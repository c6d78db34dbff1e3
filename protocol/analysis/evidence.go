package analysis

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cosketch/cosketch/kernel/estimate"
)

// Evidence is what stands out of all pairs of an analysis together. The statement that none of
// Pairs is truly 0 is right with probability 95 %, however many were compared.
type Evidence struct {
	Pairs []Pair // clearest first
	Of    int64  // pairs that were compared
	Alone int    // of the pairs at hand, those whose own interval excludes 0
	Least bool   // there may be more: a dense table gives only the clearest
}

// Evidence applies Holm's rule (1979) to the pairs that the analysis compares. Each pair's p-value
// comes from the number of standard errors that the widest interval implies. ok is false if the
// analysis has no pairs to compare.
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
		chance float64 // p-value: see Number.chance
	}
	var all []tested
	for _, p := range pairs {
		if p.ExcludesZero() {
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

// chance returns the p-value: the probability of a number at least as far from 0 if the truth were
// 0. It takes the widest interval, at this level, to be as many standard errors wide as a normal
// law's.
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
