// Package coverage measures how often the intervals of results hold the truth. It runs whole
// releases of three parties in one process, from encoded values through noise and encoding to the
// result document, each with new seeds, noise and record sets, and compares the results with the
// pooled data.
package coverage

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// Nominal is the level of the measured intervals. Their coverage must be between Least and Most, or
// up to 1 for those that are conservative by construction.
const (
	Nominal = 0.95
	Least   = 0.93
	Most    = 0.98
)

// Allowed is how many standard errors a measured coverage may lie outside these limits. By chance
// that happens with probability 3e-7 a row and side.
const Allowed = 5

// Condition describes a measured study.
type Condition struct {
	Sketch  string  `json:"sketch"` // side of the sketch, and how the data are partitioned
	Noise   bool    `json:"noise"`
	Overlap float64 `json:"overlap"` // share of all records that each party holds; 0 if parties hold disjoint records
}

func (c Condition) String() string {
	noise := "no noise"
	if c.Noise {
		noise = "noise"
	}
	if c.Overlap == 0 {
		return c.Sketch + ", " + noise
	}
	return fmt.Sprintf("%s, %s, overlap %.0f %%", c.Sketch, noise, 100*c.Overlap)
}

// Row is the coverage of one kind of number under one condition.
type Row struct {
	Number        string    `json:"number"`
	Condition     Condition `json:"condition"`
	Target        string    `json:"target"`                 // the truth that the intervals are compared with
	Conservative  string    `json:"conservative,omitempty"` // why it covers more than nominal; empty if it should not
	Coverage      float64   `json:"coverage"`               // share of the intervals that hold the truth
	StandardError float64   `json:"standard_error"`         // from the variation between seeds
	Halved        float64   `json:"halved"`                 // coverage of intervals of half the width, as a standard error half as large would give
	Intervals     int       `json:"intervals"`              // measured
	Undefined     int       `json:"undefined,omitempty"`    // numbers without an interval, not counted
	Seeds         int       `json:"seeds"`
}

// OK reports whether the coverage is within Least and Most (1 if conservative), give or take
// Allowed standard errors.
func (r Row) OK() bool {
	off := float64(Allowed) * r.StandardError
	most := Most
	if r.Conservative != "" {
		most = 1
	}
	return r.Intervals > 0 && r.Coverage >= Least-off && r.Coverage <= most+off
}

// Options are the settings of a measurement.
type Options struct {
	Seeds int                   // studies of each condition; at least 2
	Tell  func(done, total int) // reports progress; may be nil
}

// A design is a condition with its study.
type design interface {
	// run plays the study once and adds its intervals to the ledger.
	run(ctx context.Context, seed uint64, into *ledger) error
	condition() Condition
}

// Measure runs all conditions.
func Measure(ctx context.Context, o Options) (out []Row, err error) {
	if o.Seeds < 2 {
		return nil, fmt.Errorf("measuring coverage: %d seeds: at least 2 are needed", o.Seeds)
	}
	designs, err := designs()
	if err != nil {
		return nil, fmt.Errorf("measuring coverage: %w", err)
	}
	for n, d := range designs {
		into := &ledger{}
		for seed := range o.Seeds {
			if err := d.run(ctx, uint64(seed), into); err != nil {
				return nil, fmt.Errorf("measuring coverage: %s: %w", d.condition(), err)
			}
			into.close()
			if o.Tell != nil {
				o.Tell(n*o.Seeds+seed+1, len(designs)*o.Seeds)
			}
		}
		out = append(out, into.rows(d.condition())...)
	}
	return out, nil
}

// designs returns all conditions.
func designs() (out []design, err error) {
	people, err := population(records)
	if err != nil {
		return nil, err
	}
	for _, noise := range []bool{false, true} {
		for _, overlap := range []float64{1, 0.6} {
			d, err := newVertical(people, noise, overlap)
			if err != nil {
				return nil, err
			}
			out = append(out, d)
		}
	}
	for _, noise := range []bool{false, true} {
		d, err := newHorizontal(noise)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// number identifies what an interval estimates.
type number struct {
	name, target, conservative string
}

// tally counts the intervals of one kind of number.
type tally struct {
	number
	n, covered, halved, undefined int
	seeds                         []float64 // coverage by seed
	before, coveredBefore         int
}

// ledger holds the tallies of one condition, in order of first use.
type ledger struct{ tallies []*tally }

func (l *ledger) of(what number) *tally {
	for _, t := range l.tallies {
		if t.number == what {
			return t
		}
	}
	l.tallies = append(l.tallies, &tally{number: what})
	return l.tallies[len(l.tallies)-1]
}

// add compares an interval with the truth.
func (l *ledger) add(what number, n analysis.Number, truth float64) {
	if n.Estimate == nil {
		l.of(what).undefined++
		return
	}
	l.bounds(what, *n.Estimate, *n.Low, *n.High, truth)
}

// slack is the relative rounding error allowed in the truth, which is summed in another order.
const slack = 1e-9

func (l *ledger) bounds(what number, estimate, low, high, truth float64) {
	t, off := l.of(what), slack*math.Abs(truth)
	t.n++
	if low-off <= truth && truth <= high+off {
		t.covered++
	}
	if (estimate+low)/2 <= truth && truth <= (estimate+high)/2 {
		t.halved++
	}
}

// close ends a seed. The intervals of one seed share R, so their errors are correlated.
func (l *ledger) close() {
	for _, t := range l.tallies {
		if n := t.n - t.before; n > 0 {
			t.seeds = append(t.seeds, float64(t.covered-t.coveredBefore)/float64(n))
		}
		t.before, t.coveredBefore = t.n, t.covered
	}
}

func (l *ledger) rows(c Condition) (out []Row) {
	for _, t := range l.tallies {
		r := Row{
			Number: t.name, Condition: c, Target: t.target, Conservative: t.conservative,
			Intervals: t.n, Undefined: t.undefined, Seeds: len(t.seeds),
		}
		if t.n > 0 {
			r.Coverage, r.Halved = float64(t.covered)/float64(t.n), float64(t.halved)/float64(t.n)
		}
		switch {
		case len(t.seeds) == 1: // the errors of its intervals may be fully correlated
			r.StandardError = math.Sqrt(Nominal * (1 - Nominal))
		case len(t.seeds) > 1:
			// If all seeds happen to agree, use at least the standard error of independent
			// intervals.
			least := math.Sqrt(Nominal * (1 - Nominal) / float64(t.n))
			r.StandardError = max(stat.StdErr(stat.StdDev(t.seeds, nil), float64(len(t.seeds))), least)
		}
		out = append(out, r)
	}
	return out
}
