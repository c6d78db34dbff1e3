package plan

import (
	"cmp"
	"math"

	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// erring is how far a question's answer errs, for data whose centres and spreads are as declared.
type erring func(c *cell, q question) (forecast.Error, error)

// forecaster is what a plan knows of one kind of analysis, as sketches of some sides answer it. Each stands in a
// file of its kind, or of a family of kinds; cells, methods and prices are the same for all.
type forecaster struct {
	kind study.AnalysisKind
	// pair, sums and other are how far an answer errs: by a sketch of columns, of two of them; by moments; and by
	// sketches of other sides, or all columns of these together. A side that none has does not answer.
	pair  func(q question, p forecast.Pair) (forecast.Error, error)
	sums  func(q question, s forecast.Sums) (forecast.Error, error)
	other map[sketch.Side]erring
	// cut is that error once an answer is cut to what it can be; nil: it is not.
	cut func(c *cell, q question, e forecast.Error) forecast.Error
	// outright is the whole forecast of what has neither questions nor a menu, nil where it has none; no function:
	// there are questions.
	outright func(c *cell, a study.Analysis) (*Analysis, error)
	// without is what such an analysis comes to that has no forecast, and nil of one that has; no function: all have.
	without func(a study.Analysis) *conclusion

	// asks lists the questions among which those are that err most and least; nil: pairs of columns.
	asks func(c *cell, a study.Analysis) []question
	// about lists the columns on which an answer depends; nil: on the two of its question.
	about func(c *cell, q question) []place
	// names are what results name a question by; nil: its two columns.
	names func(c *cell, q question) []analysis.Feature
	// intervals is how many an answer has; nil: as package analysis has it.
	intervals func(c *cell, a study.Analysis) int
	// explains is what explains what; nil: nothing is explained, and all columns are asked about.
	explains func(c *cell, a study.Analysis) explanation
	assumes  func() string // in plans that ask it, beside what all assume; nil: nothing

	tail     tailed // how far long tails reach
	divided  bool   // by spreads of columns: it has no answer where these drown
	rounded  string // what rounding values moves by no more than their bias, like "a correlation"
	wide     bool   // choices are ranked by the interval, which cannot rely on what makes its errors small
	relative bool   // errors are shares of the distance that is asked for: nothing has to stand out
	single   bool   // it is about single records, which err no less where there are more of them
	ofBounds bool   // its interval is in spreads of a column, of which bounds alone may be told
	inward   bool   // what clips and unknown spreads do to it is in its numbers

	measure   string                      // what standard errors are in
	usable    func(e forecast.Error) bool // whether an answer that is defined can say anything
	lost      loss                        // when noise takes the answer away too often
	worth     func(f judgement) string    // what a usable answer is good for
	tooWide   string                      // what an answer that is not usable is too wide for; empty: worth says it
	otherwise func(f judgement) string    // what would give an answer where there is none; nil: nothing but what needs say
}

// judgement is what a verdict is worded from.
type judgement struct {
	Analysis
	cell  *cell
	asked study.Analysis
}

// forecasterOf returns the row of a kind by the sketches of a side; nil where there is none.
func forecasterOf(rows []forecaster, kind study.AnalysisKind, side sketch.Side) *forecaster {
	for i := range rows {
		if f := &rows[i]; f.kind == kind && (f.by(side) != nil || f.outright != nil) {
			return f
		}
	}
	return nil
}

// by is how far answers by the sketches of a side err; nil: these have none.
func (f *forecaster) by(side sketch.Side) erring {
	switch {
	case f.other[side] != nil:
		return f.other[side]
	case side == sketch.Columns && f.pair != nil:
		return f.ofPair
	case side == sketch.Moments && f.sums != nil:
		return f.ofSums
	}
	return nil
}

// ofPair is the error of two columns that are projected.
func (f *forecaster) ofPair(c *cell, q question) (forecast.Error, error) {
	p, err := c.pair(q.x, q.y)
	if err != nil {
		return forecast.Error{}, err
	}
	p.Level = c.level(q.analysis)
	return f.pair(q, p)
}

// ofSums is the error of two columns of which sums are told.
func (f *forecaster) ofSums(c *cell, q question) (forecast.Error, error) {
	s, err := c.sums(q)
	if err != nil {
		return forecast.Error{}, err
	}
	return f.sums(q, s)
}

// pairwise and summed are for forecasts that depend on nothing but the columns.
func pairwise(of func(forecast.Pair) (forecast.Error, error)) func(question, forecast.Pair) (forecast.Error, error) {
	return func(_ question, p forecast.Pair) (forecast.Error, error) { return of(p) }
}

func summed(of func(forecast.Sums) (forecast.Error, error)) func(question, forecast.Sums) (forecast.Error, error) {
	return func(_ question, s forecast.Sums) (forecast.Error, error) { return of(s) }
}

// of is the row of a kind of analysis, as the cell's sketch answers it; empty where plans know none.
func (c *cell) of(kind study.AnalysisKind) *forecaster {
	return cmp.Or(forecasterOf(c.rows, kind, c.sketch().Side), &forecaster{})
}

// known reports whether an analysis is among those that are forecast.
func (c *cell) known(a study.Analysis) bool {
	of := c.of(a.Kind)
	return of.by(c.sketch().Side) != nil && (of.without == nil || of.without(a) == nil)
}

// off is how far an answer is off: what choices are ranked by.
func (f *forecaster) off(e forecast.Error) float64 {
	switch {
	case e.Undefined != "":
		return math.Inf(1)
	case f.wide:
		return e.HalfWidth
	}
	return e.Deviation
}
