package plan

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
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

// verdict says in words what an analysis is good for.
func verdict(a study.Analysis, f Analysis, m dp.Mechanism) string {
	c := f.Chosen
	if c.Undefined != "" {
		return "not usable: " + c.Undefined + needed(f.Needs, m)
	}
	if !c.Usable {
		why := map[study.AnalysisKind]string{
			study.Correlation:  "even |ρ| = 1 would not stand out of its interval",
			study.Cosine:       "even a cosine of 1 would not stand out of its interval",
			study.InnerProduct: "even the largest product that the columns can have would not stand out of its interval",
			study.Intersection: "the number of shared records would not be known within half of itself",
			study.Distance:     "a distance would err by more than itself",
			study.KMeans:       drowned,
			study.Neighbors:    drowned,
			study.Outliers:     drowned,

			study.PCA:        "errors alone would explain as much as a component can",
			study.Regression: "even a target that follows the column exactly would not stand out of the interval of its coefficient",
			study.LDA:        "classes whose means are a whole spread apart would not be told apart",
			study.Clustering: "even columns with |ρ| = 1 would not be told from unrelated ones",
			study.Sums:       "a mean would not be known within the column's spread",

			study.Mean:          "a mean would not be known within the column's spread",
			study.Covariance:    "even the largest covariance that the columns can have would not stand out of its interval",
			study.GroupDistance: "its interval would be wider than a mean distance itself to either side",
		}[a.Kind]
		return "not usable: " + why + needed(f.Needs, m)
	}
	switch a.Kind {
	case study.Correlation:
		return "usable: |ρ| ≥ " + digits(c.Detects) + " stands out"
	case study.Cosine:
		return "usable: |cosine| ≥ " + digits(c.Detects) + " stands out"
	case study.InnerProduct:
		return "usable: products of at least " + digits(c.Detects) + " of |x||y| stand out"
	case study.Intersection:
		return "usable: the number is known to ± " + percent(c.HalfWidth)
	case study.Covariance:
		return "usable: covariances of at least " + digits(c.Detects) + " of the product of both spreads stand out"
	case study.Mean:
		return "usable: means are known to ± " + percent(c.HalfWidth) + " of their column's spread"
	case study.PCA:
		return "usable: components that explain " + percent(c.Detects) + " of the variance more than their due stand out"
	case study.Regression:
		return "usable: coefficients of at least " + digits(c.Detects) + " stand out, in spreads of the target for a spread of the column; those of columns that hang together err more"
	case study.LDA:
		return "usable: classes whose means in a column are " + digits(c.Detects) + " of its spread apart are told apart; how well all columns together do depends on the data"
	case study.Clustering:
		return "usable: columns with |ρ| ≥ " + digits(c.Detects) + " are told from unrelated ones"
	case study.Sums:
		return "usable: means are known to ± " + percent(c.HalfWidth) + " of their column's spread"
	case study.GroupDistance:
		return "usable: mean distances are known to ± " + percent(c.HalfWidth)
	case study.Distance:
		return "usable: distances are known to ± " + percent(c.HalfWidth)
	}
	return "usable: the distance of two typical records errs by " + percent(c.StandardError)
}

// unplanned says why there is no forecast.
func unplanned(kind study.AnalysisKind) string {
	switch kind {
	case study.PCA:
		return "not forecast: products that are not centred depend on the columns' means; components of correlations or covariances are forecast"
	}
	return "not planned: this version has no forecast of it"
}

// needed says what would make an answer usable.
func needed(n *Needs, m dp.Mechanism) string {
	var ways []string
	if n != nil && n.Epsilon > 0 {
		ways = append(ways, fmt.Sprintf("ε ≥ %.4g", n.Epsilon))
	}
	if n != nil && n.Records > 0 {
		ways = append(ways, fmt.Sprintf("N ≥ %d records a party", n.Records))
	}
	switch {
	case len(ways) > 0:
		return "; needs " + strings.Join(ways, ", or ")
	case m == dp.None:
		return "; needs a larger k"
	}
	return "; neither a larger ε nor more records help, another k or method may"
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

// warn says what is doubtful about a sketch.
func (c *cell) warn(s Sketch) []Warning {
	var out []Warning
	warn := func(format string, args ...any) { out = append(out, c.warning(nil, format, args...)) }
	if e := s.Exposure; e != nil && !e.Acceptable {
		warn("without noise, %s; a party that agrees all the same says accept_reconstruction: true in its own site file", e.Reason)
	}
	if s.Exposure != nil && s.Bytes > s.RawBytes {
		warn("it is larger than the data: %d bytes for %d bytes of values", s.Bytes, s.RawBytes)
	}
	if s.Clipped > manyClipped {
		warn("%.0f %% of the records are longer than clip, %g: they shrink, and answers are about the shrunk data", 100*s.Clipped, c.sketch().Clip)
	}
	for _, name := range c.narrow() {
		warn("the spread of %q is less than 2^-7 of half its range: closer bounds, or a centre and spread, take less noise", name)
	}
	for _, a := range s.Analyses {
		if bias := s.Rounding.Bias; a.Chosen.StandardError > 0 && bias > roundingBeside*a.Chosen.StandardError && a.Kind == study.Correlation {
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
			out = append(out, column.Name)
		}
	}
	return out
}
