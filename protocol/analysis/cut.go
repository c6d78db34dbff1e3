package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// Cut counts the records that are not in a sketch unchanged: they were longer than the clip of the
// study or of their party or, in a standardised sketch of columns, had a value beyond three
// spreads.
type Cut struct {
	Records    Number  `json:"records"`   // their number, with the noise of the count
	Of         int64   `json:"of"`        // number of all records
	Noticeable float64 `json:"sensible"`  // share from which answers may change by more than .4 of their standard error
	Shortened  bool    `json:"shortened"` // whether their share may be that large
	Beyond     bool    `json:"beyond"`    // whether records with a value beyond three spreads are among them
}

// cutOf returns what a noisy count says.
func cutOf(count estimate.Noisy, of int64, sensible float64) *Cut {
	return &Cut{
		Records: number(count.Estimate(0, 0)), Of: of, Noticeable: sensible,
		Shortened: count.Value > math.Max(sensible*float64(of), 2*math.Sqrt(count.Variance)),
	}
}

// cutFromMoments adds up the noisy counts of tallies; nil if nothing can have been cut.
func cutFromMoments(plan release.Plan, tallies []estimate.Tally, records int64, members int) *Cut {
	l := plan.Moments.Layout
	if !l.Cut {
		return nil
	}
	var count estimate.Noisy
	for _, t := range tallies {
		count.Value += t.Values[l.CutCount()]
		count.Variance += t.Variances[l.CutCount()]
	}
	return cutOf(count, records, plan.Noticeable(members, float64(records)))
}

// cutFromCells returns what parties counted with their sums of cells; nil if nothing can have been
// cut.
func (r *run) cutFromCells(plan release.Plan, sum sketch.Sketch, clusters int) *Cut {
	count, ok := plan.CellCut(sum, len(r.Contributions))
	if !ok {
		return nil
	}
	records := r.records()
	return cutOf(count, records, plan.SensibleCells(len(r.Contributions), float64(records), clusters))
}

// cutFromColumns returns what parties counted with their sketches of columns; nil if they did not
// count.
func (c *columns) cutFromColumns() *Cut {
	var count estimate.Noisy
	var of int64
	beyond := false
	for _, g := range c.groups {
		beyond = beyond || g.own != nil
		if g.shortened == nil {
			return nil
		}
		count.Value += g.shortened.Value
		count.Variance += g.shortened.Variance
		of += g.records
	}
	// Cutting takes at most half of the share that is cut from a correlation.
	out := cutOf(count, of, 2*c.correlationError())
	out.Beyond = beyond
	return out
}

// correlationError returns the smallest standard error of a correlation between columns with
// typical spreads, of two parties, or within the only set of columns. It is 1 if no correlation is
// expected to have an answer. Without columns of ones it is that of a cosine.
func (c *columns) correlationError() float64 {
	member := func(g group) forecast.Member {
		// If the party published no variances, assume records as long as a clip of √2 typical
		// lengths implies.
		variance := c.real(g.plan.Cut()) * c.real(g.plan.Cut()) / 2 / float64(g.plan.Values)
		if g.own != nil {
			var variances []float64
			for _, o := range g.own {
				variances = append(variances, math.Max(o.Variance, math.Sqrt(o.VarianceVariance)))
			}
			slices.Sort(variances)
			variance = variances[len(variances)/2]
		}
		ones, _ := c.ones(g)
		return forecast.Member{
			Column: forecast.Normal(0, math.Sqrt(variance)), Records: float64(g.records), Keep: forecast.Whole(),
			Ones: ones.Weight, Noise: c.noise[g.first], OnesNoise: c.noise[ones.Column],
		}
	}
	least := 1.
	for i, g := range c.groups {
		for _, other := range c.groups[:i+1] {
			pair := forecast.Pair{K: c.rows.K, X: member(g), Y: member(other), Shared: float64(min(g.records, other.records))}
			if pair.Union = other.first == g.first; pair.Union && len(c.groups) > 1 {
				continue
			}
			of := pair.CorrelationE2
			if pair.X.Ones == 0 {
				of = pair.Cosine
			}
			if e, err := of(); err == nil && e.Undefined == "" {
				least = math.Min(least, e.StandardError)
			}
		}
	}
	return least
}

// real converts an integer length to the units of values.
func (c *columns) real(length int64) float64 { return float64(length) / float64(c.study.Bits.One()) }

// caution returns what to say before answers of a kind that come from shortened data; "" if there
// is nothing to say.
func (c *Cut) caution(kind study.AnalysisKind) string {
	switch {
	case c == nil || !c.Shortened:
		return ""
	case c.Beyond:
		return fmt.Sprintf("about %s of the records were longer than the clip or had a value beyond three spreads: the answer is about the shortened data", c.share())
	}
	after := cmp.Or(kindOf(kind).shortened, ": means and covariances are of the shortened data")
	return fmt.Sprintf("about %s of the records were longer than the clip", c.share()) + after
}

// share says what part of the records was cut, to two digits.
func (c *Cut) share() string {
	if c.Records.Estimate == nil {
		return "an unknown part"
	}
	share := 100 * math.Min(math.Max(*c.Records.Estimate, 0)/float64(c.Of), 1)
	switch {
	case share > 99.5:
		return "all"
	case share >= 1:
		return fmt.Sprintf("%.2g %%", share)
	}
	return fmt.Sprintf("%.1g %%", share)
}

// restsOnCut returns what an answer from a sketch that projects assumes of records that were cut;
// empty if the answer is about all of them unchanged.
func (r *run) restsOnCut(sk int, cut *Cut) (rests premise.List) {
	switch {
	case cut != nil && cut.Shortened:
		rests = append(rests, premise.CutAsked)
	case cut != nil:
		rests = append(rests, premise.FewCut)
	case r.Study.Sketches[sk].Clip > 0 && r.Study.Sketches[sk].Side == sketch.Records:
		rests = append(rests, premise.NobodyCounted)
	}
	if counted := cut != nil && (cut.Beyond || r.Study.Sketches[sk].Side.Sums()); !counted && slices.ContainsFunc(r.Study.Columns, func(c study.Column) bool {
		_, _, centred := c.Scale.CentreSpread()
		return centred
	}) {
		rests = append(rests, premise.Limited)
	}
	return rests
}
