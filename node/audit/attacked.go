package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// AttackReport has the outcome of attacks on a release that was made of a party's data and thrown away.
type AttackReport struct {
	Study    string           `json:"study"`
	Name     string           `json:"name"`
	Dataset  string           `json:"dataset"`
	Records  int64            `json:"records"`
	Sample   int              `json:"sample"` // attacked records, drawn at random
	Promise  string           `json:"promise"`
	Sketches []AttackedSketch `json:"sketches"`
	Together []AttackedSketch `json:"together,omitempty"` // a side's noiseless sketches attacked as one, if there are several
}

// AttackedSketch is the outcome of all attacks that fit one sketch.
type AttackedSketch struct {
	Sketch  int              `json:"sketch"` // from 1; 0: several together
	Side    string           `json:"side"`
	Made    string           `json:"projection"`
	Noise   string           `json:"noise"`
	Flags   []string         `json:"flags"` // reasons not to release; empty with noise, to which the promise applies
	Attacks []AttackedResult `json:"attacks"`
}

// Title names what was attacked.
func (s AttackedSketch) Title() string {
	if s.Sketch == 0 {
		return fmt.Sprintf("All sketches of the %s side together", s.Side)
	}
	h := study.SketchHeading(s.Sketch-1, sketch.Side(s.Side), s.Made+", "+s.Noise)
	return h.Text + ": " + h.Says
}

// AttackedResult is what one attack recovered, compared with guessing without the release. All are
// fractions from 0 to 1.
type AttackedResult struct {
	Name     string  `json:"name"`
	Knows    string  `json:"knows"`    // what the attacker has besides the release
	Measure  string  `json:"measure"`  // of what Value and Baseline are fractions
	Value    float64 `json:"value"`    // recovered by the attack
	Baseline float64 `json:"baseline"` // recovered by guessing
	Detail   string  `json:"detail,omitempty"`

	// For attacks that guess values: each column's share of the variance.
	Columns []AttackedColumn `json:"columns,omitempty"`
	Errors  []AttackedError  `json:"errors,omitempty"`
}

// AttackedColumn is the share of one column's variance that was recovered.
type AttackedColumn struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"` // below 0 if the column's mean is the better guess
}

// AttackedError says that a fraction of all values was guessed within an error, in encoded units:
// for a column with bounds, relative to its range.
type AttackedError struct {
	Share     float64 `json:"share"`
	Recovered float64 `json:"recovered"` // by the attack
	Guessed   float64 `json:"guessed"`   // by each column's mean
}

// Flags lists the flags of all sketches.
func (a AttackReport) Flags() (out []string) {
	for _, s := range a.Sketches {
		for _, flag := range s.Flags {
			if len(a.Sketches) > 1 {
				flag = fmt.Sprintf("sketch %d: %s", s.Sketch, flag)
			}
			out = append(out, flag)
		}
	}
	return out
}

// Summary says in one sentence what the strongest attacks recover.
func (a AttackReport) Summary() string {
	strongest := map[string]AttackedResult{}
	var order []string
	for _, s := range slices.Concat(a.Sketches, a.Together) {
		for _, one := range s.Attacks {
			best, seen := strongest[one.Measure]
			if !seen {
				order = append(order, one.Measure)
			}
			if !seen || one.Value > best.Value {
				strongest[one.Measure] = one
			}
		}
	}
	var parts []string
	for _, measure := range order {
		if one := strongest[measure]; one.Value-one.Baseline > 0.005 {
			parts = append(parts, fmt.Sprintf("%.1f %% of %s (%.1f %% by guessing)", 100*one.Value, measure, 100*one.Baseline))
		}
	}
	if len(parts) == 0 {
		return "Whoever knows the random matrix recovers no more of your data than guessing does."
	}
	return "Whoever knows the random matrix recovers up to " + strings.Join(parts[:min(len(parts), 2)], "; ") + "."
}
