package show

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// title returns an analysis's kind as in a heading.
func title(name study.AnalysisKind) string {
	if name == "" {
		return "Answer"
	}
	return capital(cmp.Or(kindOf(name).title, strings.ReplaceAll(string(name), "-", " ")))
}

// capital returns a text with a capital first letter.
func capital(text string) string {
	for i := range text {
		if i > 0 {
			return strings.ToUpper(text[:i]) + text[i:]
		}
	}
	return strings.ToUpper(text)
}

// Headline says in a line what most readers of a result want to know first.
func Headline(r analysis.Result) string {
	text := r.Nothing()
	if text != "" {
		text += " "
	}
	text += fmt.Sprintf("%d of %d parties are in this result", len(r.Parties), len(r.Parties)+len(r.Absent))
	if len(r.Absent) > 0 {
		text += ", without " + some(r.Absent)
	}
	if r.FirstOnly {
		text += ", with their first round alone, as too few released the second"
	}
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

// some joins the first few names, and counts the others.
func some(names []string) string {
	const few = 6
	if len(names) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	return strings.Join(names, ", ")
}

// smallest says from which size a correlation across parties stands out: the median half-width of
// the intervals that contain 0.
func smallest(r analysis.Result) string {
	for _, a := range r.Analyses {
		if a.Kind != study.Correlation {
			continue
		}
		var halves []float64
		for _, p := range a.Across() {
			if n := p.Shown(); n.Undefined == "" && !n.ExcludesZero() {
				low, high := n.Outer()
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

// bare reports whether a result has no guarantee at all.
func bare(r analysis.Result) bool {
	return slices.ContainsFunc(r.Sketches, func(s analysis.Sketch) bool { return s.Mechanism == string(dp.None) })
}

// about says what the widest intervals of an analysis are for.
func about(a analysis.Analysis) string {
	if a.People() {
		return block.ForPeople
	}
	return block.ForRecords
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
		parts = append(parts, a.Units.Sentence())
	}
	if assumes := a.Assumes(); assumes != "" {
		parts = append(parts, assumes)
	}
	return strings.Join(parts, " ")
}

func ceil(x float64) float64 { return math.Ceil(x) }
