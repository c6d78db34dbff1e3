package plan

import (
	"cmp"
	"math"

	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// errorFunc returns the error of a question's answer, for data whose centres and spreads are as
// declared.
type errorFunc func(c *cell, q question) (forecast.Error, error)

// forecaster is what a plan knows of one kind of analysis, as sketches of some sides answer it.
// Each is in a file of its kind, or of a family of kinds. Cells, methods and costs are common to
// all.
type forecaster struct {
	kind study.AnalysisKind
	// pair, sums and other return the error of an answer: pair for two columns of a sketch of
	// columns, sums for two columns of moments, other for other sides, or for all columns together.
	// A side without any of them does not answer.
	pair  func(q question, p forecast.Pair) (forecast.Error, error)
	sums  func(q question, s forecast.Sums) (forecast.Error, error)
	other map[sketch.Side]errorFunc
	// cut returns the error once an answer is cut to its possible values; nil: it is not cut.
	cut func(c *cell, q question, e forecast.Error) forecast.Error
	// outright returns the whole forecast of an analysis without questions and menu; nil if there
	// is no forecast. No function: the analysis has questions.
	outright func(c *cell, a study.Analysis) (*Analysis, error)
	// without returns the conclusion of an analysis that has no forecast, and nil if it has one. No
	// function: all have one.
	without func(a study.Analysis) *conclusion

	// asks lists questions that include those with the largest and the smallest error; nil: pairs
	// of columns.
	asks func(c *cell, a study.Analysis) []question
	// about lists the columns on which an answer depends; nil: the two of its question.
	about func(c *cell, q question) []place
	// names returns the names of a question in results; nil: those of its two columns.
	names func(c *cell, q question) []analysis.Feature
	// intervals returns the number of intervals of an answer; nil: as package analysis does.
	intervals func(c *cell, a study.Analysis) int
	// explains says what explains what; nil: nothing is explained, and all columns are asked about.
	explains func(c *cell, a study.Analysis) explanation
	assumes  func() string // assumption of plans that ask for it, beside the common ones; nil: none

	tail     tailed // what long tails affect
	divided  bool   // by spreads of columns: no answer if noise hides these
	rounded  string // what rounding changes by at most the bias of values, like "a correlation"
	wide     bool   // choices are ranked by the interval, which cannot use what makes the errors small
	relative bool   // errors are shares of the distance asked for: nothing has to stand out
	single   bool   // about single records, whose errors do not shrink with more records
	ofBounds bool   // its interval is in spreads of a column, of which only bounds may be known
	inward   bool   // its numbers already include the effects of clips and unknown spreads

	measure   string                      // unit of standard errors
	usable    func(e forecast.Error) bool // whether a defined answer can say anything
	lost      loss                        // when noise hides the answer too often
	worth     func(f judgement) string    // what a usable answer is good for
	tooWide   string                      // why an answer that is not usable is too wide; empty: worth says it
	otherwise func(f judgement) string    // what would give an answer if there is none; nil: only what needs says
}

// judgement is the input for the words of a verdict.
type judgement struct {
	Analysis
	cell  *cell
	asked study.Analysis
}

// forecasterOf returns the forecaster of a kind by sketches of a side; nil if there is none.
func forecasterOf(rows []forecaster, kind study.AnalysisKind, side sketch.Side) *forecaster {
	for i := range rows {
		if f := &rows[i]; f.kind == kind && (f.by(side) != nil || f.outright != nil) {
			return f
		}
	}
	return nil
}

// by returns the error of answers by sketches of a side; nil if these do not answer.
func (f *forecaster) by(side sketch.Side) errorFunc {
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

// ofPair returns the error for two projected columns.
func (f *forecaster) ofPair(c *cell, q question) (forecast.Error, error) {
	p, err := c.pair(q.x, q.y)
	if err != nil {
		return forecast.Error{}, err
	}
	p.Level = c.level(q.analysis)
	return f.pair(q, p)
}

// ofSums returns the error for two columns whose sums are released.
func (f *forecaster) ofSums(c *cell, q question) (forecast.Error, error) {
	s, err := c.sums(q)
	if err != nil {
		return forecast.Error{}, err
	}
	return f.sums(q, s)
}

// pairwise and summed adapt forecasts that depend only on the columns.
func pairwise(of func(forecast.Pair) (forecast.Error, error)) func(question, forecast.Pair) (forecast.Error, error) {
	return func(_ question, p forecast.Pair) (forecast.Error, error) { return of(p) }
}

func summed(of func(forecast.Sums) (forecast.Error, error)) func(question, forecast.Sums) (forecast.Error, error) {
	return func(_ question, s forecast.Sums) (forecast.Error, error) { return of(s) }
}

// of returns the forecaster of a kind of analysis by the cell's sketch; empty if there is none.
func (c *cell) of(kind study.AnalysisKind) *forecaster {
	return cmp.Or(forecasterOf(c.rows, kind, c.sketch().Side), &forecaster{})
}

// known reports whether an analysis can be forecast.
func (c *cell) known(a study.Analysis) bool {
	of := c.of(a.Kind)
	return of.by(c.sketch().Side) != nil && (of.without == nil || of.without(a) == nil)
}

// off returns the error by which choices are ranked.
func (f *forecaster) off(e forecast.Error) float64 {
	switch {
	case e.Undefined != "":
		return math.Inf(1)
	case f.wide:
		return e.HalfWidth
	}
	return e.StandardError
}
