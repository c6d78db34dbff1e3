package outcome

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/protocol/study"
)

// FalseAlarm bounds the probability that a run in which every interval is right
// fails.
const FalseAlarm = 1e-6

// Verdict says whether the estimates are as near to the truth as their
// intervals claim.
//
// A 95 % interval may miss, and misses come together: one seed makes all errors
// of a study, so the share of missed intervals varies between runs with a
// standard deviation of about .05, and single pairs stray far (the farthest of
// 300 by 1.4 half-widths in the median run, by 2.4 in one of a hundred). The rule
// therefore looks at the root mean square of an analysis' distances, each in
// half-widths of its interval: .5 in the median run, and steadier than the
// number of misses or the greatest distance.
//
// The limits, scenario.Scenario.Limits, come from simulation of these very
// scenarios with fresh seeds and noise. The excess over the 99th percentile
// falls off exponentially; extended to a probability of FalseAlarm divided by
// the number of analyses, it gives the figure, which is then rounded up (the
// tests of this package repeat the simulation with -runs):
//
//	                            median   99 %   99.9 %   extended   limit   narrow
//	laboratories, correlation     .53     .83     .97      1.41      1.5     99 %
//	registry, correlation         .50     .82     .94      1.42      1.6     81 %
//	registry, intersection        .42     .92    1.11      1.86      2.2     18 %
//
// from 15,000 runs each. The last column is the rule's power: how many runs fail
// when every interval has a quarter of its proper width.
//
// An undefined estimate fails at any rate: in these scenarios every pair is
// identified by far. Clusters have no interval and are not judged: of 10,000
// seeds of the sparse projection to k = 32 two put columns that tell the clusters
// apart into one coordinate with opposite signs, and agreed with the pooled
// clusters no better than one cluster for everybody would.
type Verdict struct {
	Checks []Check
}

// Check is the judgement of one analysis.
type Check struct {
	Study     string
	Analysis  study.AnalysisKind
	Pairs     int     // across parties
	Covered   int     // of them, by their intervals
	Undefined int     // of them
	Distance  float64 // root mean square of the distances, in half-widths
	Limit     float64 // the largest that passes
}

// OK says whether the analysis passes.
func (c Check) OK() bool { return c.Undefined == 0 && c.Distance <= c.Limit }

// OK says whether every analysis passes.
func (v Verdict) OK() bool {
	for _, c := range v.Checks {
		if !c.OK() {
			return false
		}
	}
	return true
}

// Judge applies the rule to all studies of a run.
func Judge(studies []Study) Verdict {
	var v Verdict
	for _, s := range studies {
		for _, m := range s.Matrices {
			v.Checks = append(v.Checks, check(s, m))
		}
	}
	return v
}

func check(s Study, m Matrix) Check {
	c := Check{Study: s.Scenario.Name, Analysis: m.Kind, Limit: s.Scenario.Limits[m.Kind]}
	c.Covered, c.Pairs = m.Coverage()
	var sum float64
	for _, p := range m.Cross() {
		if p.Undefined != "" {
			c.Undefined++
			continue
		}
		d := m.Distance(p)
		sum += d * d
	}
	if defined := c.Pairs - c.Undefined; defined > 0 {
		c.Distance = math.Sqrt(sum / float64(defined))
	}
	return c
}

// String states the check with its numbers.
func (c Check) String() string {
	text := fmt.Sprintf("%s, %s: %.2f half-widths from the truth (root mean square of %d pairs), at most %.1f allowed",
		c.Study, c.Analysis, c.Distance, c.Pairs, c.Limit)
	if c.Undefined > 0 {
		text += fmt.Sprintf("; %d undefined, none allowed", c.Undefined)
	}
	if !c.OK() {
		text += ": FAILED"
	}
	return text
}

// Rule states the rule in a sentence.
func (v Verdict) Rule() string {
	if len(v.Checks) == 0 {
		return "No estimate with an interval in this run: nothing to judge."
	}
	return "The run fails if an analysis' estimates lie, in root mean square, further from the truth than its limit, " +
		"in half-widths of their intervals. Right intervals fail at most once in a million runs (limits from simulation)."
}

// Distance is how far an estimate lies from the truth, in half-widths of its
// interval on the side of the truth: at most 1 where the interval covers. An
// estimate at the end of its range (±1, or the smaller record count) was cut off
// there, and so was its interval, perhaps down to nothing; it counts as 1 if its
// interval misses.
func (m Matrix) Distance(p Pair) float64 {
	off, half := p.Estimate-p.Truth, p.Estimate-p.Low
	if off < 0 {
		off, half = -off, p.High-p.Estimate
	}
	switch {
	case off == 0:
		return 0
	case m.atEnd(p) && p.Covered():
		return 0
	case m.atEnd(p):
		return 1
	}
	return off / max(half, 0) // +Inf where there is no interval on that side
}

// atEnd says whether an estimate is as large as it can be.
func (m Matrix) atEnd(p Pair) bool {
	if m.Kind == study.Correlation {
		return math.Abs(p.Estimate) >= 1
	}
	return p.Estimate >= p.High
}
