// Package errortable compares every answer of a study with the pooled data, which only the testnet
// sees. It shows how far estimates are from the truth, how many intervals cover it, and what the
// plan forecast before the study. Clusters and classifiers are compared with the largest class and
// with the pooled data.
//
// The truth is that of the original data. The study's own terms change the data: values are moved
// to bounds, centres replace missing values, and records are clipped if the study uses moments. The
// resulting error is shown separately, as only other terms reduce it, not more budget. Intervals
// are about the data changed by the terms. If columns-side sketches are clipped, only the number of
// clipped records is shown.
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

// Played is a study that was run, with its results.
type Played struct {
	Template networks.Template
	Study    *study.Study
	Data     networks.Dealt
	Plan     plan.Plan
	Result   analysis.Result
	Labels   [][]int // k-means clusters by party and row of its Data; nil if there are none
	Clipped  []int64 // by sketch: number of clipped records of all parties; nil if none are clipped
}

// Table has all of a study's answers with the truth.
type Table struct {
	Numbers []Numbers    `json:"numbers"`
	Groups  []Groups     `json:"groups"`
	Classes []Classes    `json:"classifiers"`
	Missing []Unanswered `json:"unanswered"`
	Cut     float64      `json:"cut"` // share of clipped records in the sketch with most of them; 0 if none are clipped
}

// Numbers is one analysis whose answers have intervals.
type Numbers struct {
	Kind      study.AnalysisKind `json:"kind"`
	Of        string             `json:"of,omitempty"`      // which numbers of the analysis, if it has several kinds
	Measure   string             `json:"measure,omitempty"` // unit of errors and sizes
	Answers   int                `json:"answers"`           // number of answers about several parties' data
	Undefined int                `json:"undefined"`         // number of undefined answers
	Covered   int                `json:"covered"`           // number of defined answers whose interval covers the truth
	ByTerms   int                `json:"covered_by_terms"`  // number whose interval covers the truth changed by the terms, which the interval is about
	Level     float64            `json:"level"`
	RMSE      float64            `json:"rmse"`            // root mean square error of the defined answers
	Size      float64            `json:"size"`            // root mean square of the truths, which is the error of an answer of 0; for means 1, a spread
	Terms     float64            `json:"terms"`           // error due to the terms alone: root mean square difference between the truth with and without them
	Forecast  *Forecast          `json:"forecast"`        // nil if the plan has none
	Distance  float64            `json:"distance"`        // root mean square distance of the defined answers from the truth, in half-widths of their intervals; see Check
	Limit     float64            `json:"limit,omitempty"` // the largest distance that passes; 0: not judged
	Worst     Example            `json:"worst"`
	Each      []Example          `json:"each"` // all answers, in the order of the result
}

// Forecast is the standard error that the plan expected.
type Forecast struct {
	Hardest float64 `json:"hardest"` // of the answer with the largest
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

// Covered reports whether the interval covers the truth.
func (e Example) Covered() bool { return e.Undefined == "" && e.Low <= e.Truth && e.Truth <= e.High }

// Groups is one analysis that groups records.
type Groups struct {
	Kind     study.AnalysisKind `json:"kind"`
	Clusters int                `json:"clusters"`
	Pooled   Agreement          `json:"pooled"` // with k-means on the pooled data, scaled as in the study
	Known    *Agreement         `json:"known,omitempty"`
	Column   string             `json:"column,omitempty"`  // the column that Known refers to
	Ceiling  float64            `json:"ceiling,omitempty"` // agreement of the pooled clusters with Known
	Forecast *Forecast          `json:"forecast"`
}

// Agreement is the share of records on which two groupings agree, and the share that a single group
// for all records would reach.
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

// forecastOf returns the forecast for a kind in a plan; nil if there is none.
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

// tally accumulates the answers of one kind.
type tally struct {
	n              Numbers
	squares, sizes float64
	terms          float64
	worst          float64
	distances      float64
}

// add adds one answer. truth and terms are in the answer's own unit; unit converts to the measure.
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

// close computes the root mean squares and returns the numbers.
func (t *tally) close() Numbers {
	if n := float64(t.n.Answers - t.n.Undefined); n > 0 {
		t.n.RMSE, t.n.Size, t.n.Terms = math.Sqrt(t.squares/n), math.Sqrt(t.sizes/n), math.Sqrt(t.terms/n)
		t.n.Distance = math.Sqrt(t.distances / n)
	}
	return t.n
}
