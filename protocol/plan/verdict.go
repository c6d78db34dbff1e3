package plan

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// measures say what the standard errors of an analysis are in.
var measures = map[study.AnalysisKind]string{
	study.Correlation:  "correlation",
	study.Cosine:       "cosine",
	study.InnerProduct: "share of |x||y|",
	study.Intersection: "share of the shared records",
	study.Distance:     "share of the squared distance",
	study.KMeans:       typicalRecords,
	study.Neighbors:    typicalRecords,
	study.Outliers:     typicalRecords,

	study.PCA:        "share of the variance that errors alone explain",
	study.Regression: "spreads of the target for a spread of the column",
	study.LDA:        "difference of two classes' means, as share of the column's spread",
	study.Clustering: "correlation",
	study.Sums:       "mean, as share of the column's spread",

	study.Mean:          "share of the column's spread",
	study.Covariance:    "share of the product of both spreads",
	study.GroupDistance: "share of the mean squared distance",
}

const typicalRecords = "share of the squared distance of two typical records"

// ByTypicalRecords reports whether a kind is judged by the distance of two typical
// records.
func ByTypicalRecords(kind study.AnalysisKind) bool { return measures[kind] == typicalRecords }

// usable reports whether an answer can say anything: whether some effect stands out of
// its interval or, for distances, whether it errs by less than the distance itself.
func usable(kind study.AnalysisKind, e forecast.Error) bool {
	switch {
	case e.Undefined != "":
		return false
	case kind == study.Distance || ByTypicalRecords(kind):
		return e.Deviation <= 1
	case kind == study.GroupDistance || kind == study.Mean || kind == study.Sums:
		return e.HalfWidth <= 1
	case kind == study.Correlation || kind == study.Cosine || kind == study.Clustering:
		return e.Detects() < 1 && e.HalfWidth < 1 // all of [-1, 1] where a denominator is lost
	case kind == study.Intersection:
		return e.Detects() < 1 && e.HalfWidth < 0.5 // wider ones are cut off at the record counts
	}
	return e.Detects() < 1
}

const drowned = "the distance of two records would err by more than itself"

// conclude gives an analysis its outcome and its verdict.
func (c *cell) conclude(a study.Analysis, f *Analysis) {
	f.Outcome = c.outcome(a, f.Chosen)
	text, needs := "", needed(f.Needs, c.Study.Privacy.Mechanism)
	switch of, cells := f.Chosen, c.sketch().Side == sketch.Cells; f.Outcome {
	case Usable:
		if text = c.worthOfCells(a, *f); !cells {
			text = worth(a, *f)
		}
	case CutShort:
		text = of.Cut
	case SpreadUnknown:
		text = "it depends on the spread of " + names(of.Hinges) + ", which is not known. Plan again with " + tell(of.Hinges)
	case NoAnswer:
		text = of.undefined() + needs
	case OftenNoAnswer:
		text = fmt.Sprintf("with a probability of %.2g it would %s", of.Lost, losing(a.Kind)) + needs
	case TooWide:
		if text = c.worthOfCells(a, *f); !cells {
			text = whyTooWide[a.Kind]
		}
		text += needs
	}
	f.Verdict = f.Outcome.says(text)
}

// losing is what noise does to an answer.
func losing(kind study.AnalysisKind) string {
	if kind == study.PCA {
		return "lack a column, because noise hides the variance of one or a number of shared records"
	}
	return "have no answer, because noise hides a variance or a number of shared records"
}

// whyTooWide says what an answer is too wide for.
var whyTooWide = map[study.AnalysisKind]string{
	study.Correlation:  "even |ρ| = 1 would not stand out of its interval",
	study.Cosine:       "even a cosine of 1 would not stand out of its interval",
	study.InnerProduct: "even the largest product that the columns can have would not stand out of its interval",
	study.Intersection: "the number of shared records would err by more than half of itself",
	study.Distance:     "a distance would err by more than itself",
	study.KMeans:       drowned,
	study.Neighbors:    drowned,
	study.Outliers:     drowned,

	study.PCA:        "errors alone would explain as much of the variance as a component can",
	study.Regression: "even a target that follows the column exactly would not stand out of the interval of its coefficient",
	study.LDA:        "classes whose means are a whole spread apart would not be told apart",
	study.Clustering: "even columns with |ρ| = 1 would not be told from unrelated ones",
	study.Sums:       "a mean would err by more than its column's spread",

	study.Mean:          "a mean would err by more than its column's spread",
	study.Covariance:    "even the largest covariance that the columns can have would not stand out of its interval",
	study.GroupDistance: "half of its interval would be wider than the mean distance itself",
}

// worth says what a usable analysis is good for.
func worth(a study.Analysis, f Analysis) string {
	c := f.Chosen
	switch a.Kind {
	case study.Correlation:
		return "|ρ| ≥ " + detects(c) + " stands out" + supposing(f.Supposes)
	case study.Cosine:
		return "|cosine| ≥ " + detects(c) + " stands out"
	case study.InnerProduct:
		return "products of at least " + detects(c) + " of |x||y| stand out"
	case study.Intersection:
		return "the number is known to ± " + width(c)
	case study.Covariance:
		return "covariances of at least " + detects(c) + " of the product of both spreads stand out"
	case study.Mean:
		text := "means are known to ± "
		if f.OfBounds > 0 {
			text += percent(f.OfBounds) + " of the range of a column with bounds, and to ± "
		}
		return text + width(c) + " of a column's spread"
	case study.PCA:
		return "components that explain " + percent(c.AtWorst.Detects) + " of the variance more than an equal share stand out" + supposing(f.Supposes)
	case study.Regression:
		return "coefficients of at least " + detects(c) + " stand out, in spreads of the target for a spread of the column; those of correlated columns err more" + supposing(f.Supposes)
	case study.LDA:
		return "classes whose means in a column are " + detects(c) + " of its spread apart are told apart; how well all columns together do depends on the data" + supposing(f.Supposes)
	case study.Clustering:
		return "columns with |ρ| ≥ " + detects(c) + " are told from unrelated ones" + supposing(f.Supposes)
	case study.Sums:
		return "means are known to ± " + width(c) + " of their column's spread"
	case study.GroupDistance:
		return "mean distances are known to ± " + width(c)
	case study.Distance:
		return "distances are known to ± " + width(c)
	}
	return "the distance of two typical records errs by " + spanned(c.AtBest.StandardError, c.AtWorst.StandardError, percent)
}

// unplanned is an analysis without a forecast.
func unplanned(kind study.AnalysisKind) Analysis {
	out := Analysis{Kind: kind, Options: []Choice{}, Outcome: NotForecast}
	why := "this version has no forecast of it"
	if kind == study.PCA {
		out.Outcome, why = Uncentred, "products that are not centred depend on the columns' means; components of correlations or covariances are forecast"
	}
	out.Verdict = out.Outcome.says(why)
	return out
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
	return "; neither a larger ε nor more records help, but another k or method may"
}

func withK(k int) string {
	if k == 0 {
		return ""
	}
	return fmt.Sprintf(" with k = %d", k)
}

// detects is the least effect that stands out at worst, and at best where that is another.
func detects(c Choice) string {
	if least, most := digits(c.AtBest.Detects), digits(c.AtWorst.Detects); least != most {
		return most + " (at best " + least + ")"
	}
	return digits(c.AtWorst.Detects)
}

// width is half of the interval, from best to worst.
func width(c Choice) string { return spanned(c.AtBest.HalfWidth, c.AtWorst.HalfWidth, percent) }

// spanned shows two numbers, or one where they are the same.
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

// digits shows a number between 0 and 1 with two significant digits, rounded up.
func digits(x float64) string { return fmt.Sprintf("%.4g", roundUp(x)) }

func percent(x float64) string { return fmt.Sprintf("%.4g %%", 100*roundUp(x)) }

// Bounds beyond which a choice is warned of.
const (
	manyClipped    = 0.1      // of the records
	leastSpread    = 1. / 128 // of half a range
	roundingBeside = 0.1      // of the standard error
)

// overruled ends what is said of releases that a party's program refuses without its steward.
const overruled = "; a party that agrees nevertheless says accept_reconstruction: true in its own site file"

// warn says what is doubtful about a sketch.
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
	} else if c.sketch().Side != sketch.Moments && !c.laidOut() && s.Clipped > manyClipped {
		out = append(out, c.warning(c.shorter(), "%.0f %% of the records are longer than the clip, %g. They are shortened to it, and answers are about the shortened data", 100*s.Clipped, c.sketch().Clip))
	}
	for _, name := range c.narrow() {
		warn("the spread of %q is less than 2^-7 of half its range: closer bounds, or a centre and spread, take less noise", name)
	}
	for _, a := range s.Analyses {
		if bias := s.Rounding.Bias; c.Study.Bits < c.Study.AutoBits() && a.Chosen.StandardError > 0 && bias > roundingBeside*a.Chosen.StandardError && a.Kind == study.Correlation {
			warn("%d bits may move a correlation by %.1g, beside a standard error of %.1g: more bits cost nothing", s.Rounding.Bits, bias, a.Chosen.StandardError)
		}
	}
	return out
}

func (c *cell) warning(change []string, format string, args ...any) Warning {
	return Warning{Text: fmt.Sprintf("sketch %d: ", c.index+1) + fmt.Sprintf(format, args...), Change: change}
}

// narrow lists the columns whose spread was given and is small beside their bounds.
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
