package analysis

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/study"
)

// Regression is the section of one regression, in original units. The analysis's features
// are the explaining columns.
//
//section:regression of regression
type Regression struct {
	Target       Feature   `json:"target"`                     // the explained column
	Ridge        float64   `json:"ridge,omitempty"`            // share by which each explaining column's variance was raised; the answers include it
	LeftOut      []Feature `json:"left_out,omitempty" by:"-"`  // explaining columns whose variance does not stand out of its error
	Reference    []Feature `json:"reference,omitempty" by:"-"` // values of categorical columns with which their other values are compared
	Coefficients []Number  `json:"coefficients" by:"features"` // by feature: units of the target per unit of the feature
	Intercept    Number    `json:"intercept"`                  // in units of the target
	RSquared     Number    `json:"r_squared"`                  // share of the target's variance that is explained
	Residual     Number    `json:"residual"`                   // standard deviation of the residuals, in units of the target
	Condition    Number    `json:"condition"`                  // smallest eigenvalue of the correlations of the explaining columns
	Freedom      float64   `json:"freedom"`                    // degrees of freedom of the intervals; 0 for moments, whose intervals are normal
	Identified   float64   `json:"identified"`                 // number of standard errors by which Condition must exceed zero if there is noise

	Residuals []SketchRow `json:"residuals,omitempty" by:"row"` // residuals of the first rows of the sketch, at most 200
}

// Ridged says which regression the answers are about; "" for least squares.
func (r Regression) Ridged() string {
	if r.Ridge == 0 {
		return ""
	}
	return fmt.Sprintf("Answers are of the ridge regression with ridge %.3g: the variance of each explaining column is raised by this part of itself, which makes coefficients and R² smaller.", r.Ridge)
}

func (r *Regression) check(a Analysis) error {
	if len(r.Coefficients) != len(a.Features) {
		return fmt.Errorf("%d coefficients of %d features", len(r.Coefficients), len(a.Features))
	}
	for _, n := range slices.Concat(r.Coefficients, []Number{r.Intercept, r.RSquared, r.Residual, r.Condition}) {
		if err := n.check(); err != nil {
			return fmt.Errorf("regression: %w", err)
		}
	}
	return checkResiduals(r.Residuals)
}

func (r *Regression) people() []Number {
	return append([]Number{r.Intercept}, r.Coefficients...)
}

func (r *Regression) nothing() string {
	if r.RSquared.ExcludesZero() || slices.ContainsFunc(r.Coefficients, Number.ExcludesZero) {
		return ""
	}
	return fmt.Sprintf("0 of %d coefficients clearly differ from 0", len(r.Coefficients))
}

// regression answers with coefficients in original units. The first value of a categorical
// explaining column is the reference for the others, because the values of a record add up to one,
// which the intercept already covers.
func (c *columns) regression(ctx context.Context, a study.Analysis, out *Analysis) error {
	o, ok := a.Options.(study.RegressionOptions)
	if !ok {
		return fmt.Errorf("options of kind %T", a.Options)
	}
	section := &Regression{Ridge: o.Ridge.By, Identified: estimate.MinConditionZ}
	out.Assumptions, out.Units = c.rests(true), measure.Original
	columns := c.variables()
	at, target := explaining(o, section, len(columns), func(i int) (study.Column, Feature) { return c.column(columns[i]), c.name(columns[i]) })
	var vars []variable
	for _, i := range at {
		vars = append(vars, columns[i])
	}
	if target < 0 {
		return unanswerable("the party that holds %q is not in the result", o.Target)
	}
	if len(vars) < 2 {
		return unanswerable("no party that holds an explaining column is in the result")
	}
	if len(vars) > decompose.MaxEigen {
		return unanswerable("%d columns are too many: a line is found through at most %d", len(vars), decompose.MaxEigen)
	}
	if err := c.reach(ctx, vars); err != nil {
		return err
	}
	m, why := c.gram.Moments(c.located(vars), true)
	if why != "" {
		return unanswerable("%s", why)
	}
	options := estimate.RegressionOptions{Target: target, Ridge: section.Ridge, Units: c.units(vars)}
	for i, v := range vars {
		options.Origins = append(options.Origins, c.origin(v))
		if i != target {
			options.On = append(options.On, i)
		}
	}
	section.Target = c.name(vars[target])
	if err := section.find(m, options, a, out, func(i int) Feature { return c.name(vars[i]) }); err != nil {
		return err
	}
	kept := slices.DeleteFunc(slices.Clone(vars), func(v variable) bool { return slices.Contains(section.LeftOut, c.name(v)) })
	target = slices.IndexFunc(kept, func(v variable) bool { return c.name(v) == section.Target })
	section.Residuals = c.residuals(kept, target, section)
	return nil
}

// find computes the regression of m, and its features: the explaining columns whose variance stands
// out.
func (r *Regression) find(m *estimate.Moments, o estimate.RegressionOptions, a study.Analysis, out *Analysis, name func(int) Feature) error {
	constant := m.Constant()
	if slices.Contains(constant, o.Target) && !m.Unprojected() {
		return unanswerable("the variance of %s does not stand out of its error, and no line through it is defined", r.Target.text())
	}
	if len(o.On) > 0 && !slices.ContainsFunc(o.On, func(i int) bool { return !slices.Contains(constant, i) }) {
		first := name(o.On[0])
		return unanswerable("the variance of %s does not stand out of its error, nor that of any other explaining column", first.text())
	}
	o.Level = out.promise(a, len(o.On)+3)
	found, why := m.Regression(o)
	if why != "" {
		return unanswerable("%s", why)
	}
	for _, i := range o.On {
		if slices.Contains(found.On, i) {
			out.Features = append(out.Features, name(i))
		} else {
			r.LeftOut = append(r.LeftOut, name(i))
		}
	}
	r.Ridge = found.Ridge
	for _, e := range found.Coefficients {
		r.Coefficients = append(r.Coefficients, number(e))
	}
	r.Intercept, r.RSquared, r.Residual, r.Condition = number(found.Intercept), number(found.R2), number(found.Residual), number(found.Condition)
	if r.Freedom = found.Freedom; math.IsInf(r.Freedom, 1) {
		r.Freedom = 0
	}
	out.Regression = r
	return nil
}

// explaining lists which of n variables are in a regression, and the target's position among them;
// −1 if it is not there. The reference of each categorical column is left out.
func explaining(o study.RegressionOptions, section *Regression, n int, of func(int) (study.Column, Feature)) (vars []int, target int) {
	target = -1
	on, reference := chosen(o.On, o.Target, n, of)
	section.Reference = reference
	for i := range n {
		if column, _ := of(i); column.Name == o.Target {
			target = len(vars)
			vars = append(vars, i)
		} else if slices.Contains(on, i) {
			vars = append(vars, i)
		}
	}
	return vars, target
}

// chosen returns which of n variables explain another column: those of the columns asked for, or of
// all but that one. The first value of a categorical column is the reference for its others,
// because the values of a record add up to one.
func chosen(asked []string, explained string, n int, of func(int) (study.Column, Feature)) (vars []int, reference []Feature) {
	last := ""
	for i := range n {
		column, name := of(i)
		first := column.Name != last // first value of a categorical column
		last = column.Name
		switch {
		case column.Name == explained || len(asked) > 0 && !slices.Contains(asked, column.Name):
		case column.Kind == study.Categorical && first:
			reference = append(reference, name)
		default:
			vars = append(vars, i)
		}
	}
	return vars, reference
}

// text names a feature in a sentence.
func (f Feature) text() string {
	if f.Value != "" {
		return fmt.Sprintf("%q = %q", f.Column, f.Value)
	}
	return fmt.Sprintf("%q", f.Column)
}

func ofRegression() kind {
	return kind{
		name: study.Regression, ways: []way{onMoments((*moments).regression), onColumns((*columns).regression)},
		size:     func(t *taken) Size { return numbers(t.values) },
		refuse:   cubic(study.Regression, "in one equation", decompose.MaxEigen, 8),
		matrices: 8,
	}
}
