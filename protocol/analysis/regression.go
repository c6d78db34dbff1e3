package analysis

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/study"
)

// Regression is the section of one regression, in original units. The analysis's features
// are the explaining columns.
type Regression struct {
	Target       Feature   `json:"target"`
	Ridge        float64   `json:"ridge,omitempty"`
	Reference    []Feature `json:"reference,omitempty"` // values of categorical columns with which their other values are compared
	Coefficients []Number  `json:"coefficients"`        // by feature: units of the target per unit of the feature
	Intercept    Number    `json:"intercept"`
	RSquared     Number    `json:"r_squared"`
	Residual     Number    `json:"residual"`   // standard deviation of what is not explained, in units of the target
	Condition    Number    `json:"condition"`  // the least eigenvalue of the correlations of the explaining columns
	Freedom      float64   `json:"freedom"`    // degrees of freedom of the intervals
	Identified   float64   `json:"identified"` // how many standard errors Condition has to be above zero where there is noise

	Residuals []SketchRow `json:"residuals,omitempty"`
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

// regression answers with coefficients in original units. The first value of a
// categorical explaining column is the reference of the others, as the values of a
// record add up to one, which the intercept has already.
func (c *columns) regression(a study.Analysis, out *Analysis) error {
	o, ok := a.Options.(study.RegressionOptions)
	if !ok {
		return fmt.Errorf("options of kind %T", a.Options)
	}
	section := &Regression{Ridge: o.Ridge, Identified: estimate.Identified}
	out.Assumption, out.Units = c.assumes(true), unitsOriginal
	vars, target := c.explaining(o, section)
	if target < 0 {
		return unanswerable("the party that holds %q is not in the result", o.Target)
	}
	if len(vars) < 2 {
		return unanswerable("no party that holds an explaining column is in the result")
	}
	m, why := c.gram.Moments(c.located(vars), true)
	if why != "" {
		return unanswerable("%s", why)
	}
	if constant := m.Constant(); len(constant) > 0 {
		f := c.name(vars[constant[0]])
		return unanswerable("the variance of %s does not stand out of its error, and no line through it is defined", f.text())
	}
	c.level = out.promise(a, len(vars)+2)
	options := estimate.RegressionOptions{Target: target, Ridge: o.Ridge, Level: c.level, Units: c.units(vars)}
	for i, v := range vars {
		options.Origins = append(options.Origins, c.column(v).Scale.Origin())
		if i != target {
			options.On = append(options.On, i)
			out.Features = append(out.Features, c.name(v))
		}
	}
	found, why := m.Regression(options)
	if why != "" {
		return unanswerable("%s", why)
	}
	section.Target = c.name(vars[target])
	for _, e := range found.Coefficients {
		section.Coefficients = append(section.Coefficients, number(e))
	}
	section.Intercept, section.RSquared, section.Residual = number(found.Intercept), number(found.R2), number(found.Residual)
	section.Condition, section.Freedom = number(found.Condition), found.Freedom
	section.Residuals = c.residuals(vars, target, section)
	out.Regression = section
	return nil
}

// explaining lists the explaining variables and the target, and where it is; −1 if no
// party of the result holds it.
func (c *columns) explaining(o study.RegressionOptions, section *Regression) (vars []variable, target int) {
	target = -1
	last := ""
	for _, v := range c.variables() {
		column := c.column(v)
		first := column.Name != last // value of a categorical column
		last = column.Name
		switch {
		case column.Name == o.Target:
			target = len(vars)
			vars = append(vars, v)
		case len(o.On) > 0 && !slices.Contains(o.On, column.Name):
		case column.Kind == study.Categorical && first:
			section.Reference = append(section.Reference, c.name(v))
		default:
			vars = append(vars, v)
		}
	}
	return vars, target
}

// text names a feature in a sentence.
func (f Feature) text() string {
	if f.Value != "" {
		return fmt.Sprintf("%q = %q", f.Column, f.Value)
	}
	return fmt.Sprintf("%q", f.Column)
}
