package errortable

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/protocol/study"
)

// Check says whether the estimates of an analysis are as near to the truth as their intervals
// claim.
//
// A 95 % interval may miss, and misses come together: one seed makes all errors of a study, so
// the share of missed intervals varies between runs with a standard deviation of about .05,
// and single pairs stray far (the farthest of 300 by 1.4 half-widths in the median run, by 2.4
// in one of a hundred). The rule therefore looks at the root mean square of an analysis'
// distances, each in half-widths of its interval: .5 in the median run, and steadier than the
// number of misses or the greatest distance.
//
// The limits, networks.Template.Limits, come from simulation of the demonstration's own studies
// with fresh seeds and noise. The excess over the 99th percentile falls off exponentially;
// extended to a probability of FalseAlarm divided by the number of analyses, it gives the
// figure, which is then rounded up (the tests of this package repeat the simulation with -runs):
//
//	                            median   99 %   99.9 %   extended   limit   narrow
//	laboratories, correlation     .53     .83     .97      1.41      1.5     99 %
//	registry, correlation         .50     .82     .94      1.42      1.6     81 %
//	registry, intersection        .42     .92    1.11      1.86      2.2     18 %
//	regions, mean                 .46     .96              1.9       2.2
//	regions, correlation          .49     .76              1.3       1.6
//
// from 15,000 runs each, those of regions from 194 of the whole study in one process. The last column is the rule's power: how many runs fail when every
// interval has a quarter of its proper width.
//
// An undefined estimate fails at any rate: in these studies every pair is identified by far.
// Clusters have no interval and are not judged: of 10,000 seeds of the sparse projection to
// k = 32 two put columns that tell the clusters apart into one coordinate with opposite signs,
// and agreed with the pooled clusters no better than one cluster for everybody would.
type Check struct {
	Network   string             `json:"network"`
	Kind      study.AnalysisKind `json:"kind"`
	Answers   int                `json:"answers"`
	Undefined int                `json:"undefined"` // of them
	Distance  float64            `json:"distance"`  // see Numbers
	Limit     float64            `json:"limit"`
}

// FalseAlarm bounds the probability that a run fails in which every interval is right.
const FalseAlarm = 1e-6

// Rule states the rule in a sentence or two.
const Rule = "The run fails if an analysis' estimates lie, in root mean square, further from the truth than its limit, " +
	"in half-widths of their intervals. Right intervals fail at most once in a million runs (limits from simulation)."

// Checks judge the analyses that have a limit.
func (t Table) Checks(network string) (out []Check) {
	for _, n := range t.Numbers {
		if n.Limit > 0 {
			out = append(out, Check{network, n.Kind, n.Answers, n.Undefined, n.Distance, n.Limit})
		}
	}
	return out
}

// OK says whether the analysis passes.
func (c Check) OK() bool { return c.Undefined == 0 && c.Distance <= c.Limit }

// String states the check with its numbers.
func (c Check) String() string {
	text := fmt.Sprintf("%s, %s: %.2f half-widths from the truth (root mean square of %d answers), at most %.1f allowed",
		c.Network, c.Kind, c.Distance, c.Answers, c.Limit)
	if c.Undefined > 0 {
		text += fmt.Sprintf("; %d undefined, none allowed", c.Undefined)
	}
	if !c.OK() {
		text += ": FAILED"
	}
	return text
}

// distance is how far an estimate lies from the truth, in half-widths of its interval on the
// side of the truth: at most 1 where the interval covers. An estimate at the end of its range
// (±1, or the smaller record count) was cut off there, and so was its interval, perhaps down to
// nothing; it counts as 1 if its interval misses.
func (e Example) distance(kind study.AnalysisKind) float64 {
	off, half := e.Estimate-e.Truth, e.Estimate-e.Low
	if off < 0 {
		off, half = -off, e.High-e.Estimate
	}
	atEnd := kind == study.Correlation && math.Abs(e.Estimate) >= 1 || kind == study.Intersection && e.Estimate >= e.High
	switch {
	case off == 0, atEnd && e.Covered():
		return 0
	case atEnd:
		return 1
	}
	return min(off/max(half, 0), 1e9) // as good as infinite where there is no interval on that side
}
