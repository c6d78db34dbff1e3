// Package errortable sets every answer of a study on dealt-out data beside what the pooled
// data say, which only the testnet sees: how far estimates are from the truth, how many of
// their intervals hold it, what the plan forecast before anything left, and for clusters
// and classifiers how well they do beside the largest class and beside the pooled data.
//
// The truth is that of the data as they are. What a study's own terms make of them, by
// bounds that values are moved to, by centres that stand for missing values and, where
// moments answer, by the clip, is an error too, and its part is shown: more budget does not
// mend it, other terms do. Intervals are about the data as the terms have them. Where columns
// sides are clipped, how many records were cut is all that is said of it.
package errortable

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/networks"
)

// Played is a study that was played, and what came of it.
type Played struct {
	Template networks.Template
	Study    *study.Study
	Data     networks.Dealt
	Plan     plan.Plan
	Result   analysis.Result
	Labels   [][]int // by party and its rows in Data, the clusters of k-means; nil without
	Clipped  []int64 // by sketch: records of all parties that were cut to the clip; nil where none are
}

// Table is all of a study's answers beside the truth.
type Table struct {
	Numbers []Numbers    `json:"numbers"`
	Groups  []Groups     `json:"groups"`
	Classes []Classes    `json:"classifiers"`
	Missing []Unanswered `json:"unanswered"`
	Cut     float64      `json:"cut"` // share of the records that are cut to the clip, in the sketch where most are; 0 where none are
}

// Numbers is one analysis whose answers have intervals.
type Numbers struct {
	Kind      study.AnalysisKind `json:"kind"`
	Of        string             `json:"of,omitempty"`      // what of the analysis, where it has several sorts of numbers
	Measure   string             `json:"measure,omitempty"` // what errors and sizes are in
	Answers   int                `json:"answers"`           // all that the analysis gives about several parties' data
	Undefined int                `json:"undefined"`         // of them
	Covered   int                `json:"covered"`           // of the defined ones, the interval holds the truth
	ByTerms   int                `json:"covered_by_terms"`  // the interval holds what the terms make of the truth, which is what it is about
	Level     float64            `json:"level"`
	RMSE      float64            `json:"rmse"`            // root mean square error of the defined ones
	Size      float64            `json:"size"`            // root mean square of the truths, what an answer of 0 would err by; of means 1, a spread
	Terms     float64            `json:"terms"`           // part of the error that is the terms' own: the truth by the terms, from that of the data
	Forecast  *Forecast          `json:"forecast"`        // nil where the plan says nothing of it
	Distance  float64            `json:"distance"`        // root mean square of the defined ones from the truth, in half-widths of their intervals; see Check
	Limit     float64            `json:"limit,omitempty"` // the largest distance that passes; 0: it is not judged
	Worst     Example            `json:"worst"`
	Each      []Example          `json:"each"` // all answers, in the order of the result
}

// Forecast is the standard error that the plan expected.
type Forecast struct {
	Hardest float64 `json:"hardest"` // of the answer that errs most
	Easiest float64 `json:"easiest"`
	Verdict string  `json:"verdict"`
}

// Example is one answer.
type Example struct {
	Name     string  `json:"name"`
	Truth    float64 `json:"truth"`
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`

	Undefined string `json:"undefined,omitempty"` // why there is no estimate
}

// Covered says whether the interval holds the truth.
func (e Example) Covered() bool { return e.Undefined == "" && e.Low <= e.Truth && e.Truth <= e.High }

// Groups is one analysis that groups records.
type Groups struct {
	Kind     study.AnalysisKind `json:"kind"`
	Clusters int                `json:"clusters"`
	Pooled   Agreement          `json:"pooled"` // with k-means on the pooled data, scaled as the study scales them
	Known    *Agreement         `json:"known,omitempty"`
	Column   string             `json:"column,omitempty"`  // that Known is of
	Ceiling  float64            `json:"ceiling,omitempty"` // agreement of the pooled clusters with Known
	Forecast *Forecast          `json:"forecast"`
}

// Agreement is the share of records on which two groupings agree, and what one group for
// everybody would reach.
type Agreement struct {
	Share    float64 `json:"share"`
	Baseline float64 `json:"baseline"`
}

// Classes is one classifier.
type Classes struct {
	Kind     study.AnalysisKind `json:"kind"`
	Column   string             `json:"column"`
	Accuracy float64            `json:"accuracy"` // by the study's own estimate
	Low      float64            `json:"low"`
	High     float64            `json:"high"`
	Baseline float64            `json:"baseline"` // share of the largest class in the pooled data
	Pooled   float64            `json:"pooled"`   // accuracy of the same classifier on the pooled data and plain labels
	Labels   string             `json:"labels"`   // plain or randomised
	Forecast *Forecast          `json:"forecast"`
}

// Unanswered is an analysis without an answer.
type Unanswered struct {
	Kind   study.AnalysisKind `json:"kind"`
	Reason string             `json:"reason"`
}

// Make compares a study's answers with the data.
func Make(ctx context.Context, p Played) (Table, error) {
	t, err := newTruth(p)
	if err != nil {
		return Table{}, err
	}
	var out Table
	for _, n := range p.Clipped {
		out.Cut = max(out.Cut, float64(n)/float64(records(p.Result)))
	}
	for i, a := range p.Result.Analyses {
		if a.Undefined != "" {
			out.Missing = append(out.Missing, Unanswered{a.Kind, a.Undefined})
			continue
		}
		forecast := forecastOf(p.Plan, a.Kind)
		switch {
		case a.KMeans != nil || a.CellMeans != nil:
			g, err := t.groups(ctx, a, forecast)
			if err != nil {
				return Table{}, err
			}
			out.Groups = append(out.Groups, g)
		case a.Classifier != nil:
			c, err := t.classes(ctx, p.Study.Analyses[i], *a.Classifier, forecast)
			if err != nil {
				return Table{}, err
			}
			out.Classes = append(out.Classes, c)
		default:
			n, err := t.numbers(a, forecast)
			if err != nil {
				return Table{}, err
			}
			out.Numbers = append(out.Numbers, n...)
		}
	}
	for i, n := range out.Numbers {
		out.Numbers[i].Limit = p.Template.Limits[n.Kind]
	}
	return out, nil
}

func records(r analysis.Result) (n int64) {
	for _, p := range r.Parties {
		n += p.Records
	}
	return n
}

// forecastOf finds a kind in a plan.
func forecastOf(p plan.Plan, kind study.AnalysisKind) *Forecast {
	for _, sk := range p.Sketches {
		for _, a := range sk.Analyses {
			if a.Kind == kind && a.Verdict != "" {
				return &Forecast{Hardest: a.Chosen.StandardError, Easiest: a.Best, Verdict: a.Verdict}
			}
		}
	}
	return nil
}

// tally adds up the answers of one kind.
type tally struct {
	n              Numbers
	squares, sizes float64
	terms          float64
	worst          float64
	distances      float64
}

// add takes one answer. truth and terms are in the answer's own unit, of which unit is one
// of the measure.
func (t *tally) add(name string, x analysis.Number, truth, terms, unit float64) error {
	t.n.Answers++
	if x.Undefined != "" || x.Estimate == nil {
		t.n.Undefined++
		if math.IsNaN(truth) {
			truth = 0
		}
		t.n.Each = append(t.n.Each, Example{Name: name, Truth: truth, Undefined: cmp.Or(x.Undefined, "there is no estimate")})
		return nil
	}
	if x.Low == nil || x.High == nil {
		return fmt.Errorf("%s of %s has no interval", t.n.Kind, name)
	}
	if math.IsNaN(truth) || math.IsNaN(terms) || unit == 0 {
		return fmt.Errorf("%s of %s: the pooled data do not say it", t.n.Kind, name)
	}
	off := (*x.Estimate - truth) / unit
	t.squares += float64(off * off)
	size := truth / unit
	if t.n.Kind == study.Mean {
		size = 1
	}
	t.sizes += float64(size * size)
	t.terms += float64((terms - truth) / unit * ((terms - truth) / unit))
	one := Example{Name: name, Truth: truth, Estimate: *x.Estimate, Low: *x.Low, High: *x.High}
	t.n.Each = append(t.n.Each, one)
	d := one.distance(t.n.Kind)
	t.distances += float64(d * d)
	if one.Covered() {
		t.n.Covered++
	}
	if *x.Low <= terms && terms <= *x.High {
		t.n.ByTerms++
	}
	if math.Abs(off) >= t.worst {
		t.worst = math.Abs(off)
		t.n.Worst = one
	}
	return nil
}

// close ends the sums.
func (t *tally) close() Numbers {
	if n := float64(t.n.Answers - t.n.Undefined); n > 0 {
		t.n.RMSE, t.n.Size, t.n.Terms = math.Sqrt(t.squares/n), math.Sqrt(t.sizes/n), math.Sqrt(t.terms/n)
		t.n.Distance = math.Sqrt(t.distances / n)
	}
	return t.n
}
