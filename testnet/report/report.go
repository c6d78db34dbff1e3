// Package report tells people and programs what a run of the testnet found: as
// text for a terminal, as one JSON object, and as one HTML file that needs
// nothing else.
package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/outcome"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// Run is everything there is to tell.
type Run struct {
	Seed    uint64 // of the data and their split
	Studies []outcome.Study
	Verdict outcome.Verdict
	Made    time.Time
	Elapsed time.Duration
	Go      string // version and platform
}

// title names an analysis in a sentence.
func title(kind study.AnalysisKind) string {
	switch kind {
	case study.Correlation:
		return "Correlations"
	case study.Intersection:
		return "Shared records"
	case study.KMeans:
		return "Clusters"
	}
	return string(kind)
}

// sketchLine describes the sketch in a line.
func sketchLine(s scenario.Scenario) string {
	if len(s.Sketches) > 0 {
		return fmt.Sprintf("%s: %s", s.Partition, strings.NewReplacer("{", "", "}", "", "side: ", "").Replace(strings.Join(s.Sketches, "; ")))
	}
	line := fmt.Sprintf("%s, %s sketch, %s", s.Partition, s.Side, s.Projection)
	if s.Ones != 0 {
		line += fmt.Sprintf(", ones × %g", s.Ones)
	}
	if s.Clip != 0 {
		line += fmt.Sprintf(", clip %g", s.Clip)
	}
	return line
}

// promise states the privacy of one release and of a person, in a line.
func promise(s outcome.Study) string {
	if s.Scenario.Mechanism == dp.None {
		return "no noise: NO privacy guarantee"
	}
	line := fmt.Sprintf("ε = %g", s.Scenario.Epsilon)
	if s.Scenario.Delta > 0 {
		line += ", δ = " + short(s.Scenario.Delta)
	}
	line += fmt.Sprintf(" per %s and release (%s)", s.Scenario.Unit, s.Scenario.Mechanism)
	if person := perPerson(s); person != nil {
		line += "; ε = " + dp.AtMost(*person, 3) + " per person"
	}
	return line
}

// perPerson is the ε of one person over everything that the study releases about
// them; nil without a guarantee. Sketches compose at the parties, which state one
// number for each sketch; the studies here have one sketch.
func perPerson(s outcome.Study) *float64 {
	if len(s.Result.Sketches) == 0 {
		return nil
	}
	return s.Result.Sketches[0].EpsilonPerPerson
}

// ledgerLine is what a party's ledger holds of the study's dataset.
func ledgerLine(s outcome.Study, party string) string {
	var held []string
	for _, spent := range s.Ledgers[party] {
		held = append(held, spentLine(spent))
	}
	return strings.Join(held, "; ")
}

// spentLine is a dataset's line of a ledger.
func spentLine(spent outcome.Spent) string {
	line := fmt.Sprintf("%d %s of %q", spent.Releases, plural(spent.Releases, "release"), spent.Dataset)
	if spent.Unbounded {
		return line + ", unbounded: one carries no noise"
	}
	line += fmt.Sprintf(", ε = %.4g", spent.Epsilon)
	if spent.Delta > 0 {
		line += ", δ = " + short(spent.Delta)
	}
	return line + " per " + spent.Unit
}

// short writes a number without the zero of its exponent: 1e-6.
func short(x float64) string { return strings.ReplaceAll(fmt.Sprintf("%.4g", x), "e-0", "e-") }

// bytes writes a size with three digits and its unit.
func bytes(n int64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.3g MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.3g kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// number writes an estimate with the digits that its kind deserves.
func number(kind study.AnalysisKind, x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	if kind == study.Intersection {
		return fmt.Sprintf("%.0f", x)
	}
	text := fmt.Sprintf("%.2f", x)
	if text == "-0.00" {
		return "0.00"
	}
	return text
}

// coverage says how many intervals contain the truth.
func coverage(m outcome.Matrix) string {
	covered, pairs := m.Coverage()
	return fmt.Sprintf("%d of %d intervals (%.0f %%) contain the truth", covered, pairs, 100*m.Level)
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
