package report

import (
	"cmp"
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
	text := fmt.Sprintf("%d of %d parties are in", len(r.Parties), len(r.Parties)+len(r.Absent))
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
		for _, p := range across(a) {
			if p.Estimate != nil && contains0(p.Number) {
				halves = append(halves, (*p.High-*p.Low)/2)
			}
		}
		if len(halves) > 0 {
			slices.Sort(halves)
			return fmt.Sprintf("the smallest effect that this study typically sees is |\u2060ρ\u2060|\u2060\u00a0≥\u00a0%.2f", halves[len(halves)/2])
		}
	}
	return ""
}

// bare reports a result without any guarantee.
func bare(r analysis.Result) bool {
	return slices.ContainsFunc(r.Sketches, func(s analysis.Sketch) bool { return s.Mechanism == string(dp.None) })
}

// across are the pairs of different parties' columns, or all pairs where columns belong to
// the union.
func across(a analysis.Analysis) []analysis.Pair {
	var out []analysis.Pair
	for _, p := range a.Pairs {
		if p.I != p.J && (a.Features[p.I].Party == "" || a.Features[p.I].Party != a.Features[p.J].Party) {
			out = append(out, p)
		}
	}
	return out
}

// contains0 reports an interval that leaves the sign open.
func contains0(n analysis.Number) bool { return n.Estimate != nil && *n.Low <= 0 && 0 <= *n.High }

// standing counts the pairs that can be told from 0.
func standing(a analysis.Analysis) string {
	pairs, of := across(a), "pairs across parties"
	if a.RecordDistances != nil || len(pairs) == 0 || a.Features[0].Party == "" {
		of = "pairs"
	}
	if len(pairs) == 0 {
		pairs = a.Pairs
	}
	clear, undefined := 0, 0
	for _, p := range pairs {
		switch {
		case p.Estimate == nil:
			undefined++
		case !contains0(p.Number):
			clear++
		}
	}
	text := fmt.Sprintf("%d of %d %s can be told from 0", clear, len(pairs), of)
	switch {
	case undefined == 1:
		text += "; 1 is undefined"
	case undefined > 1:
		text += fmt.Sprintf("; %d are undefined", undefined)
	}
	return text
}

// terms says what intervals and estimates hold for.
func terms(a analysis.Analysis) string {
	var parts []string
	switch {
	case a.Level != 0 && a.Intervals == study.IntervalsAll:
		parts = append(parts, fmt.Sprintf("%.4g %% intervals that hold all together (each by itself at %.6g %%).", 100*a.Level, 100*a.EachLevel))
	case a.Level != 0:
		parts = append(parts, fmt.Sprintf("%.4g %% intervals, each by itself; they cover projection and noise together.", 100*a.Level))
	}
	if a.Units != "" {
		units, meaning, _ := strings.Cut(a.Units, ":")
		text := "In " + units + " units"
		if meaning = strings.TrimSpace(meaning); meaning != "" {
			text += ": " + meaning
		}
		parts = append(parts, text+".")
	}
	if a.Assumption != "" {
		who, assumes := "It", "assumes that "
		if a.Estimator != "" {
			who = "Estimator " + string(a.Estimator)
		}
		if strings.HasPrefix(a.Assumption, "nothing") {
			assumes = "assumes "
		}
		parts = append(parts, who+" "+assumes+a.Assumption+".")
	}
	return strings.Join(parts, " ")
}

// pairTitle names a pair and its number.
func pairTitle(a analysis.Analysis, p analysis.Pair) string {
	return a.Features[p.I].Name() + ", " + a.Features[p.J].Name() + ": " + numberText(p.Number)
}

// numberText is a number with its interval, or why there is none.
func numberText(n analysis.Number) string {
	if n.Estimate == nil {
		return "undefined"
	}
	number, between := figure.Interval(*n.Estimate, *n.Low, *n.High)
	return strings.ReplaceAll(number+" "+between, "-", "−")
}

// clearest orders pairs by how far their intervals are from 0, in interval widths.
func clearest(pairs []analysis.Pair) []analysis.Pair {
	size := func(p analysis.Pair) float64 {
		if p.Estimate == nil {
			return -1
		}
		return math.Abs(*p.Estimate) / max(*p.High-*p.Low, math.SmallestNonzeroFloat64)
	}
	sorted := slices.Clone(pairs)
	slices.SortStableFunc(sorted, func(a, b analysis.Pair) int { return cmp.Compare(size(b), size(a)) })
	return sorted
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
