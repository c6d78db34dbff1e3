package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// explanation says which columns an analysis of all columns uses to explain which.
type explanation struct {
	on     []string // by name; empty: all others
	target string   // the explained column
	ridge  study.Ridge
}

// leastEigenvalue is the smallest eigenvalue of the correlations of the explaining columns.
var leastEigenvalue = [...]float64{typical: 1, best: 1, worst: 0.05}

// jointly uses one forecast for moments and for sketches of columns.
func jointly(e errorFunc) map[sketch.Side]errorFunc {
	return map[sketch.Side]errorFunc{sketch.Moments: e, sketch.Columns: e}
}

// together begins the forecast of an answer from all columns together: from the errors of one pair
// of them, and their number. The cell it returns has pairs with intervals of the level of the
// answer's own intervals.
func (c *cell) together(a study.Analysis, x, y place) (at *cell, out forecast.Joint, err error) {
	out = forecast.Joint{Columns: len(c.explaining(a)), K: math.Inf(1), Least: leastEigenvalue[c.Options.end]}
	if c.projects() {
		out.K = float64(c.sketch().Projection.K)
	}
	level := *c
	at, level.each = &level, c.level(a)
	if out.Correlation, err = at.pairErrs(study.Correlation, x, y); err == nil && c.of(a.Kind).explains != nil {
		out.Ridge, err = c.ridge(a)
	}
	return at, out, err
}

// pairErrs returns the error of another kind's answer about one pair.
func (c *cell) pairErrs(kind study.AnalysisKind, x, y place) (forecast.Error, error) {
	return c.bare(question{study.Analysis{Kind: kind}, x, y})
}

// ridge returns the ridge that an answer will have.
func (c *cell) ridge(a study.Analysis) (float64, error) {
	by, n := c.of(a.Kind).explains(c, a), c.unionRecords()
	plan, err := c.plan(c.viewer())
	if err != nil || plan.Moments == nil {
		return by.ridge.By, err
	}
	noise, err := c.momentNoise()
	if err != nil {
		return 0, err
	}
	return recall(c.memory.ridges, ridged{c.explainedBy(by), by.ridge, n}, func() float64 {
		var on []int
		for _, p := range c.explaining(a) {
			on = append(on, slices.Index(plan.Features, p.feature))
		}
		return plan.Ridge(by.ridge, noise.Product, int64(n), on)
	}), nil
}

// explaining returns the features that an analysis uses. If columns explain another one, these are
// the explaining ones, without the reference of each categorical column; otherwise all.
func (c *cell) explaining(a study.Analysis) []place {
	explains := c.of(a.Kind).explains
	if explains == nil {
		return c.places()
	}
	by := explains(c, a)
	return recall(c.memory.explained, c.explainedBy(by), func() (out []place) {
		for _, p := range c.places() {
			column := c.Study.Columns[p.feature.Column]
			reference := column.Kind == study.Categorical && p.feature.Value == column.Values[0]
			if column.Name != by.target && !reference && (len(by.on) == 0 || slices.Contains(by.on, column.Name)) {
				out = append(out, p)
			}
		}
		return out
	})
}

func (c *cell) explainedBy(by explanation) explainedBy {
	return explainedBy{c.planned(c.viewer()), by.target, strings.Join(by.on, "\x00")}
}

// explained returns the questions about an explained column: each explaining column with the
// target, or with the first value of the target.
func explained(c *cell, a study.Analysis) (out []question) {
	name := c.of(a.Kind).explains(c, a).target
	target := slices.IndexFunc(c.places(), func(p place) bool { return c.Study.Columns[p.feature.Column].Name == name })
	if target < 0 {
		return nil
	}
	for _, p := range c.explaining(a) {
		out = append(out, question{a, p, c.places()[target]})
	}
	return out
}

// aboutExplained returns the columns on which an answer depends in which columns explain another.
func aboutExplained(c *cell, q question) []place {
	return slices.Concat(c.explaining(q.analysis), []place{q.x, q.y})
}

// correlatedAtWorst says what is assumed of the explaining columns.
func correlatedAtWorst() string {
	return fmt.Sprintf("at worst, the explaining columns of a regression or lda are correlated: the least eigenvalue of their correlations is %g", leastEigenvalue[worst])
}
