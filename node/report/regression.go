package report

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// regression draws the coefficients of a regression.
func (s *Section) regression(id string, a analysis.Analysis) {
	r := *a.Regression
	s.skip("regression", "regression_coefficients", "regression_reference")
	s.Title = "Regression of " + r.Target.Name()
	if r.RSquared.Estimate != nil {
		s.Summary = "explained is a share of " + numberText(r.RSquared)
	}
	var entries []entry
	for i, f := range a.Features {
		entries = append(entries, entry{f.Name(), r.Coefficients[i]})
	}
	s.Figures = append(s.Figures, forest(id+"-coefficients", "Coefficients", entries, ofOneSize(entries), "of "+r.Target.Name()+", for one more of the column"))
	var names []string
	for _, f := range r.Reference {
		names = append(names, f.Name())
	}
	if len(names) > 0 {
		s.Notes = append(s.Notes, "Other values of these columns are compared with "+strings.Join(names, ", ")+".")
	}
	fit := Grid{Caption: "Coefficients, and how well they fit", Columns: []GridColumn{{"what", false}, {"estimate and interval", true}}}
	for _, e := range entries[:min(len(entries), mostRows)] {
		fit.Rows = append(fit.Rows, []string{e.name, numberOrWhy(e.Number)})
	}
	fit.Omitted = len(entries) - len(fit.Rows)
	for _, one := range []entry{
		{"intercept", r.Intercept}, {"R²", r.RSquared}, {"standard deviation of what is not explained", r.Residual}, {"least eigenvalue of the explaining columns", r.Condition},
	} {
		fit.Rows = append(fit.Rows, []string{one.name, numberOrWhy(one.Number)})
	}
	if r.Ridge > 0 {
		fit.Rows = append(fit.Rows, []string{"ridge", brief(r.Ridge)})
	}
	s.table(fit)
}

// numberOrWhy is a number with its interval, or why there is none.
func numberOrWhy(n analysis.Number) string {
	if n.Estimate == nil && n.Undefined != "" {
		return fmt.Sprintf("undefined: %s", n.Undefined)
	}
	return numberText(n)
}
