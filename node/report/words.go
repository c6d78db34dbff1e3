package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// title is an analysis's kind as a heading has it.
func title(a analysis.Analysis) string {
	words := strings.ReplaceAll(string(a.Kind), "-", " ")
	switch a.Kind {
	case study.KMeans:
		words = "k-means"
	case study.LDA:
		words = "linear discriminants"
	case study.Neighbors:
		words = "neighbours"
	case study.PCA:
		words = "principal components"
	case study.SVM:
		words = "support vector machine"
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// headline answers what most readers want to know first.
func headline(r analysis.Result) string {
	text := r.Nothing()
	if text != "" {
		text += " "
	}
	text += fmt.Sprintf("%d of %d parties are in", len(r.Parties), len(r.Parties)+len(r.Absent))
	var ready, failed []string
	for _, a := range r.Analyses {
		if a.Undefined != "" {
			failed = append(failed, string(a.Kind))
		} else if !slices.Contains(ready, string(a.Kind)) {
			ready = append(ready, string(a.Kind))
		}
	}
	if len(ready) > 0 {
		text += "; answered: " + strings.Join(ready, ", ")
	}
	if len(failed) > 0 {
		text += "; without an answer: " + strings.Join(failed, ", ")
	}
	if size := smallest(r); size != "" {
		text += "; " + size
	}
	text += "."
	if m := r.Masked; m != nil {
		text += fmt.Sprintf(" Masked: the aggregator saw the sum over all %d alone, if no more than %d of them collude with it.", m.Members, m.Colluding)
	}
	if bare(r) {
		text += " Nothing was promised: the sketches carry no noise."
	}
	return text
}

// smallest says from which size on a correlation across parties stands out: the middle one
// of the half-widths of intervals that contain 0.
func smallest(r analysis.Result) string {
	for _, a := range r.Analyses {
		if a.Kind != study.Correlation {
			continue
		}
		var halves []float64
		for _, p := range a.Across() {
			if p.Estimate != nil && contains0(p.Number) {
				low, high := p.Outer()
				halves = append(halves, (high-low)/2)
			}
		}
		if len(halves) > 0 {
			slices.Sort(halves)
			return fmt.Sprintf("the smallest effect that this study typically sees is |\u2060ρ\u2060|\u2060\u00a0≥\u00a0%.2f (%s)", halves[len(halves)/2], about(a))
		}
	}
	return ""
}

// bare reports a result without any guarantee.
func bare(r analysis.Result) bool {
	return slices.ContainsFunc(r.Sketches, func(s analysis.Sketch) bool { return s.Mechanism == string(dp.None) })
}

// contains0 reports a number whose sign its widest interval leaves open.
func contains0(n analysis.Number) bool { return n.Estimate != nil && !n.Told() }

// about says what the widest intervals of an analysis are for.
func about(a analysis.Analysis) string {
	if a.People() {
		return analysis.ForPeople
	}
	return analysis.ForRecords
}

// terms says what intervals and estimates hold for.
func terms(a analysis.Analysis) string {
	var parts []string
	switch {
	case a.Level != 0 && a.Intervals == study.IntervalsAll:
		parts = append(parts, fmt.Sprintf("%.4g %% intervals that hold all together (each by itself at %.6g %%).", 100*a.Level, 100*a.EachLevel))
	case a.Level != 0:
		parts = append(parts, fmt.Sprintf("%.4g %% intervals, each by itself.", 100*a.Level))
	}
	if covered := a.Covered(); covered != "" {
		parts = append(parts, covered)
	}
	if a.Units != "" {
		units, meaning, _ := strings.Cut(a.Units, ":")
		text := "In " + units + " units"
		if meaning = strings.TrimSpace(meaning); meaning != "" {
			text += ": " + meaning
		}
		parts = append(parts, text+".")
	}
	if assumes := a.Assumes(); assumes != "" {
		parts = append(parts, assumes)
	}
	return strings.Join(parts, " ")
}

// pairTitle names a pair and its number.
func pairTitle(a analysis.Analysis, p analysis.Pair) string {
	number := numberTitle(p.Number)
	if a.Unanswered(p.Number) {
		number = "no answer, " + number
	}
	return a.Features[p.I].Name() + ", " + a.Features[p.J].Name() + ": " + number
}

// numberTitle is a number with all of its intervals, and what each is for.
func numberTitle(n analysis.Number) string {
	text := numberText(n)
	if people := peopleText(n); people != "" {
		text += " " + analysis.ForRecords + ", " + people + " " + analysis.ForPeople
	}
	return text
}

// peopleText is the interval for people like these; empty where there is none.
func peopleText(n analysis.Number) string {
	if n.Estimate == nil || n.PopulationLow == nil || n.PopulationHigh == nil {
		return ""
	}
	_, between := figure.Interval(*n.Estimate, *n.PopulationLow, *n.PopulationHigh)
	return minus(between)
}

// numberText is a number with its interval for these records, or why there is none.
func numberText(n analysis.Number) string {
	if n.Estimate == nil {
		return "undefined"
	}
	number, between := figure.Interval(*n.Estimate, *n.Low, *n.High)
	return strings.ReplaceAll(number+" "+between, "-", "−")
}

// bytesText shows a number of bytes.
func bytesText(n int64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return strconv.FormatInt(n, 10) + " B"
}

// brief prints a number with at most four significant digits.
func brief(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// cutText says how many records were cut, and from how many on it matters.
func cutText(a analysis.Analysis) string {
	c, were, allowed := *a.Cut, "were longer than the clip", "Intervals of means and covariances allow for it. "
	switch {
	case c.Beyond:
		were, allowed = "were longer than the clip or had a value beyond three spreads", ""
	case a.CellMeans != nil:
		allowed = "Intervals of the means of clusters do not allow for it. "
	}
	return fmt.Sprintf("Of %d records, about %s %s, by a noisy count. %sFrom %.3g on, it shows beside the noise.",
		c.Of, numberText(c.Records), were, allowed, math.Ceil(float64(c.Sensible*float64(c.Of))))
}
