// Package coverage measures how often the intervals of results hold the truth: whole
// releases of three parties in one process, from encoded values through noise and encoding
// to the result document, repeated with new seeds, new noise and new record sets, and set
// beside the pooled data.
package coverage

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// Nominal is the level of the intervals that are measured, and Least and Most what they
// have to cover; those that are conservative by construction may cover up to 1.
const (
	Nominal = 0.95
	Least   = 0.93
	Most    = 0.98
)

// Allowed is how many standard errors a measured coverage may lie outside: by chance one
// does with probability 3e-7 a row and side.
const Allowed = 5

// Condition is what a study was like.
type Condition struct {
	Sketch  string  `json:"sketch"` // columns or records, and how the parties' data lie
	Noise   bool    `json:"noise"`
	Overlap float64 `json:"overlap"` // share of all records that each party holds; 0 where records are the parties' own
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
	Target        string    `json:"target"`                 // what it was held against
	Conservative  string    `json:"conservative,omitempty"` // why it covers more than it says; empty where it does not by construction
	Coverage      float64   `json:"coverage"`               // share of the intervals that hold the truth
	StandardError float64   `json:"standard_error"`         // from how it differs between seeds
	Halved        float64   `json:"halved"`                 // coverage of intervals of half the width: what a wrong standard error would do
	Intervals     int       `json:"intervals"`              // that were measured
	Undefined     int       `json:"undefined,omitempty"`    // numbers without one, left out
	Seeds         int       `json:"seeds"`
}

// OK reports whether the coverage is what intervals of 95 % promise, within five of its
// standard errors.
func (r Row) OK() bool {
	off := float64(Allowed) * r.StandardError
	most := Most
	if r.Conservative != "" {
		most = 1
	}
	return r.Intervals > 0 && r.Coverage >= Least-off && r.Coverage <= most+off
}

// Options say how much is measured.
type Options struct {
	Seeds int                   // studies of each condition; at least 2
	Tell  func(done, total int) // of progress; nil for nobody
}

// A design is one condition with the study that is run under it.
type design interface {
	// run plays the study once and counts its intervals.
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

// designs are all conditions.
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

// number says what an interval is of.
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

// ledger is the tallies of one condition, in the order in which they came.
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

// add holds an interval against the truth.
func (l *ledger) add(what number, n analysis.Number, truth float64) {
	if n.Estimate == nil {
		l.of(what).undefined++
		return
	}
	l.bounds(what, *n.Estimate, *n.Low, *n.High, truth)
}

// slack is the part of a number by which the truth, summed another way, may differ.
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

// close ends a seed: all intervals of one share R, and err together.
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
		case len(t.seeds) == 1: // its intervals may all err together
			r.StandardError = math.Sqrt(Nominal * (1 - Nominal))
		case len(t.seeds) > 1:
			// Where all seeds agree by chance, independent intervals still differ.
			least := math.Sqrt(Nominal * (1 - Nominal) / float64(t.n))
			r.StandardError = max(stat.StdErr(stat.StdDev(t.seeds, nil), float64(len(t.seeds))), least)
		}
		out = append(out, r)
	}
	return out
}
