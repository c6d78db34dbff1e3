package plan

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/study"
)

// standsOut reports whether a defined answer can say anything: some effect must stand out of its
// interval. Distances use withinItself: the error must not exceed the distance itself.
func standsOut(e forecast.Error) bool { return e.Detects() < 1 }

// standsOutOfAll is for numbers in [-1, 1]. The interval is all of that if noise hides a
// denominator.
func standsOutOfAll(e forecast.Error) bool { return standsOut(e) && e.HalfWidth < 1 }

func withinItself(e forecast.Error) bool { return e.StandardError <= 1 }

func halfWithin(e forecast.Error) bool { return e.HalfWidth <= 1 }

// oftenLost is the largest probability of an undefined answer that is still usable.
const oftenLost = 0.05

// loss is the largest acceptable probability of losing an answer, or a part of it, and what such an
// answer would do.
type loss struct {
	often float64
	would string
}

// losing returns the loss of a kind, or the default one.
func (f *forecaster) losing() loss {
	if f.lost.often > 0 {
		return f.lost
	}
	return loss{oftenLost, "have no answer, because noise hides a variance or a number of shared records"}
}

// good reports whether an answer can say something, and is likely to be defined.
func (f *forecaster) good(e forecast.Error) bool {
	return e.Undefined == "" && f.usable(e) && e.FailureProbability() <= f.losing().often
}

// conclude sets the outcome and the verdict of an analysis.
func (c *cell) conclude(a study.Analysis, f *Analysis) {
	of := c.of(a.Kind)
	f.Outcome = of.outcome(f.Chosen)
	text, needs := "", needed(f.Needs, c.Study.Privacy.Mechanism)
	switch chosen := f.Chosen; f.Outcome {
	case Usable:
		text = of.worth(judgement{*f, c, a})
	case CutShort:
		text = chosen.Cut
	case SpreadUnknown:
		text = "it depends on the spread of " + names(chosen.UnknownSpreads) + ", which is not known. Plan again with " + tell(chosen.UnknownSpreads)
	case NoAnswer:
		text = chosen.undefined() + needs
		if of.otherwise != nil {
			text += of.otherwise(judgement{*f, c, a})
		}
	case OftenNoAnswer:
		text = fmt.Sprintf("with a probability of %.2g it would %s", chosen.Lost, of.losing().would) + needs
	case TooWide:
		if text = of.tooWide; text == "" {
			text = of.worth(judgement{*f, c, a})
		}
		text += needs
	}
	f.Verdict = f.Outcome.says(text)
}

// conclusion is an outcome with its reason.
type conclusion struct {
	outcome Outcome
	why     string
}

// unplanned returns an analysis without a forecast.
func (c *cell) unplanned(a study.Analysis) Analysis {
	why := conclusion{NotForecast, "this version has no forecast of it"}
	if without := c.of(a.Kind).without; without != nil {
		why = *without(a)
	}
	return Analysis{Kind: a.Kind, Estimator: a.Estimator(), Options: []Choice{}, Outcome: why.outcome, Verdict: why.outcome.says(why.why)}
}

// needed says what would make an answer usable.
func needed(n *Needs, m dp.Mechanism) string {
	if n != nil && n.Method != "" {
		return fmt.Sprintf("; usable with %s, k = %d", n.Method, n.K)
	}
	var ways []string
	if n != nil && n.Epsilon > 0 {
		ways = append(ways, fmt.Sprintf("ε ≥ %.4g", n.Epsilon)+withK(n.EpsilonK))
	}
	if n != nil && n.Records > 0 {
		ways = append(ways, fmt.Sprintf("N ≥ %d records a party", n.Records)+withK(n.RecordsK))
	}
	switch {
	case len(ways) > 0:
		return "; needs " + strings.Join(ways, ", or ")
	case m == dp.None:
		return "; needs a larger k"
	}
	return "; neither a larger ε nor more records suffice, but another k or method may"
}

func withK(k int) string {
	if k == 0 {
		return ""
	}
	return fmt.Sprintf(" with k = %d", k)
}

// detects formats the smallest effect that stands out at worst, and at best if that differs.
func detects(c Choice) string {
	if least, most := digits(c.AtBest.Detects), digits(c.AtWorst.Detects); least != most {
		return most + " (at best " + least + ")"
	}
	return digits(c.AtWorst.Detects)
}

// width formats half of the interval, from best to worst.
func width(c Choice) string { return spanned(c.AtBest.HalfWidth, c.AtWorst.HalfWidth, percent) }

// spanned formats two numbers, or one if they are shown alike.
func spanned(least, most float64, show func(float64) string) string {
	a, b := show(least), show(most)
	if a == b {
		return a
	}
	return strings.TrimSuffix(a, " %") + " to " + b
}

// names lists columns, the first few by name.
func names(columns []string) string {
	const few = 3
	if len(columns) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(columns[:few], ", "), len(columns)-few)
	}
	return strings.Join(columns, ", ")
}

// digits formats a number between 0 and 1 with two significant digits, rounded up.
func digits(x float64) string { return fmt.Sprintf("%.4g", roundUp(x)) }

func percent(x float64) string { return fmt.Sprintf("%.4g %%", 100*roundUp(x)) }

// Thresholds for warnings.
const (
	manyClipped    = 0.1      // of the records
	leastSpread    = 1. / 128 // of half a range
	roundingBeside = 0.1      // of the standard error
)

// overruled ends a text about releases that a party's program refuses unless its steward allows
// them.
const overruled = "; a party that agrees nevertheless says accept_reconstruction: true in its own site file"

// warn returns the warnings about a sketch.
func (c *cell) warn(s Sketch) []Warning {
	var out []Warning
	warn := func(format string, args ...any) { out = append(out, c.warning(nil, format, args...)) }
	if e := s.Exposure; e != nil && !e.Acceptable {
		warn("without noise, %s%s", e.Reason, overruled)
	}
	if s.Exposure != nil && s.Bytes > s.RawBytes {
		warn("it is larger than the data: %d bytes for %d bytes of values", s.Bytes, s.RawBytes)
	}
	if cut, err := c.cuts(); err == nil && cut != nil {
		warn("%s", cut)
	} else if additiveOf(c.sketch().Side).cuts == nil && !c.laidOut() && s.Clipped > manyClipped {
		out = append(out, c.warning(c.shorter(), "%.0f %% of the records are longer than the clip, %g. They are shortened to it, and answers are about the shortened data", 100*s.Clipped, c.sketch().Clip))
	}
	for _, name := range c.narrow() {
		warn("the spread of %q is less than 2^-7 of half its range: closer bounds, or a centre and spread, take less noise", name)
	}
	for _, a := range s.Analyses {
		bias, moved := s.Rounding.Bias, c.of(a.Kind).rounded
		if moved != "" && c.Study.Bits < c.Study.AutoBits() && a.Chosen.StandardError > 0 && bias > roundingBeside*a.Chosen.StandardError {
			warn("%d bits may move %s by %.1g, beside a standard error of %.1g: more bits cost nothing", s.Rounding.Bits, moved, bias, a.Chosen.StandardError)
		}
	}
	return out
}

func (c *cell) warning(change []string, format string, args ...any) Warning {
	return Warning{Text: fmt.Sprintf("sketch %d: ", c.index+1) + fmt.Sprintf(format, args...), Change: change}
}

// narrow lists the columns whose given spread is small compared with their bounds.
func (c *cell) narrow() []string {
	var out []string
	for _, column := range c.Study.Columns {
		lo, hi, ok := column.Scale.Bounds()
		if given, known := c.Spreads[column.Name]; ok && known && given < leastSpread*(hi-lo)/2 {
			out = append(out, column.Title())
		}
	}
	return out
}
