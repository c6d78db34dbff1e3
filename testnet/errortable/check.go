package errortable

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/protocol/study"
)

// Check says whether the estimates of an analysis are as close to the truth as their intervals
// claim.
//
// A 95 % interval may miss, and misses are correlated, as one seed determines all errors of a
// study. So the share of missed intervals varies between runs with a standard deviation of about
// .05. Single pairs may be far off: the worst of 300 by 1.4 half-widths in the median run, and by
// 2.4 in one run of a hundred. The rule therefore uses the root mean square of an analysis'
// distances, each in half-widths of its interval. It is .5 in the median run, and varies less than
// the number of misses or the largest distance.
//
// The limits, networks.Template.Limits, come from simulation of the demonstration's own studies
// with fresh seeds and noise. The excess over the 99th percentile decays exponentially. It is
// extrapolated to a probability of FalseAlarm divided by the number of analyses, and rounded up
// (the tests of this package repeat the simulation with -runs):
//
//	                            median   99 %   99.9 %   extended   limit   narrow
//	laboratories, correlation     .53     .83     .97      1.41      1.5     99 %
//	registry, correlation         .50     .82     .94      1.42      1.6     81 %
//	registry, intersection        .42     .92    1.11      1.86      2.2     18 %
//	regions, mean                 .46     .96              1.9       2.2
//	regions, correlation          .49     .76              1.3       1.6
//
// These are from 15,000 runs each; those of regions from 194 runs of the whole study in one
// process. The last column is the rule's power: the share of runs that fail if every interval has a
// quarter of its proper width.
//
// An undefined estimate always fails, as every pair in these studies is clearly identified.
// Clusters have no interval and are not judged. For example, 2 of 10,000 seeds of the sparse
// projection to k = 32 put the columns that separate the clusters into one coordinate with opposite
// signs; their agreement with the pooled clusters was no better than that of a single cluster.
type Check struct {
	Network   string             `json:"network"`
	Kind      study.AnalysisKind `json:"kind"`
	Answers   int                `json:"answers"`
	Undefined int                `json:"undefined"` // number of undefined answers
	Distance  float64            `json:"distance"`  // see Numbers
	Limit     float64            `json:"limit"`
}

// FalseAlarm bounds the false-rejection rate: the probability that a run with correct intervals
// fails.
const FalseAlarm = 1e-6

// Rule states the rule for people.
const Rule = "The run fails if an analysis' estimates lie, in root mean square, further from the truth than its limit, " +
	"in half-widths of their intervals. Right intervals fail at most once in a million runs (limits from simulation)."

// Checks returns a check for every analysis that has a limit.
func (t Table) Checks(network string) (out []Check) {
	for _, n := range t.Numbers {
		if n.Limit > 0 {
			out = append(out, Check{network, n.Kind, n.Answers, n.Undefined, n.Distance, n.Limit})
		}
	}
	return out
}

// OK reports whether the analysis passes.
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

// distance returns the distance of an estimate from the truth, in half-widths of its interval on
// the side of the truth. It is at most 1 if the interval covers the truth. An estimate at the end
// of its range (±1, or the smaller record count) was limited to it, and so was its interval,
// possibly to width 0. It counts as 0 if its interval covers the truth, otherwise as 1.
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
	return min(off/max(half, 0), 1e9) // practically infinite if there is no interval on that side
}
