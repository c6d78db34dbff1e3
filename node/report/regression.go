package report

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// regression draws the coefficients of a regression.
func (s *Section) regression(id string, a analysis.Analysis) {
	r := *a.Regression
	s.skip("regression", "regression_coefficients", "regression_reference", "regression_left_out", "regression_residuals")
	s.Title = "Regression of " + r.Target.Name()
	if r.RSquared.Estimate != nil {
		s.Summary = "R² is " + numberText(r.RSquared) + " " + analysis.ForRecords
	}
	var entries []entry
	for i, f := range a.Features {
		entries = append(entries, entry{name: f.Name(), Number: r.Coefficients[i]})
	}
	s.Figures = append(s.Figures, forest(id+"-coefficients", "Coefficients", entries, ofOneSize(entries), "of "+r.Target.Name()+", for one more of the column"))
	if len(r.Residuals) > 0 {
		s.Figures = append(s.Figures, residuals(id, r), normality(id, r))
	}
	var names []string
	for _, f := range r.Reference {
		names = append(names, f.Name())
	}
	if len(names) > 0 {
		s.Notes = append(s.Notes, "Other values of these columns are compared with "+strings.Join(names, ", ")+".")
	}
	if ridge := r.Ridged(); ridge != "" {
		s.Notes = append(s.Notes, ridge)
	}
	s.leftOut("columns", r.LeftOut)
	fit := Grid{Caption: "Coefficients, and how well they fit", Columns: []GridColumn{{"what", false}, {"estimate, " + analysis.ForRecords, true}, {analysis.ForPeople, true}}}
	for _, e := range entries[:min(len(entries), mostRows)] {
		fit.Rows = append(fit.Rows, []string{e.name, numberOrWhy(e.Number), peopleText(e.Number)})
	}
	fit.Omitted = len(entries) - len(fit.Rows)
	for _, one := range []entry{
		{name: "intercept", Number: r.Intercept}, {name: "R²", Number: r.RSquared},
		{name: "standard deviation of what is not explained", Number: r.Residual}, {name: "least eigenvalue of the explaining columns", Number: r.Condition},
	} {
		fit.Rows = append(fit.Rows, []string{one.name, numberOrWhy(one.Number), peopleText(one.Number)})
	}
	if r.Ridge > 0 {
		fit.Rows = append(fit.Rows, []string{"ridge", brief(r.Ridge), ""})
	}
	s.table(fit)
	if len(r.Residuals) > 0 {
		rows := Grid{Caption: "Rows of the sketch: what was fitted, and what is left", Columns: []GridColumn{{"fitted", true}, {"left", true}}}
		for _, row := range r.Residuals[:min(len(r.Residuals), mostRows)] {
			rows.Rows = append(rows.Rows, []string{minus(brief(row.Fitted)), minus(brief(row.Residual))})
		}
		rows.Omitted = len(r.Residuals) - len(rows.Rows)
		s.table(rows)
	}
}

// residuals draws what a regression leaves of rows of the sketch over what it fitted.
func residuals(id string, r analysis.Regression) figure.Figure {
	curve := figure.Curve{Look: figure.Marks}
	for _, row := range r.Residuals {
		curve.Points = append(curve.Points, figure.Point{X: row.Fitted, Y: row.Residual})
	}
	return figure.Chart{
		ID: id + "-residuals", Title: "What is left over what was fitted, row by row of the sketch", Height: 240, Curves: []figure.Curve{curve},
		X: figure.Dimension{Label: "fitted"}, Y: figure.Dimension{Label: "left, in units of " + r.Target.Name()}, References: []figure.Reference{{Name: "0", At: 0}},
		Description: fmt.Sprintf("%d rows of the sketch: random sums over all records, in units for one record.", len(r.Residuals)),
		Caption:     "A mark is a row of the sketch, a random sum over all records, so no mark is about one of them. They should lie about the line without a slope; a slope says that the fit misses something, or that noise lies on the explaining columns.",
	}.Figure()
}

// normality draws rows of residuals over the quantiles that they would have if they were
// normal.
func normality(id string, r analysis.Regression) figure.Figure {
	values := make([]float64, len(r.Residuals))
	for i, row := range r.Residuals {
		values[i] = row.Residual
	}
	slices.Sort(values)
	mean, deviation := stat.MeanStdDev(values, nil)
	rows, line := figure.Curve{Name: "rows of the sketch", Look: figure.Marks}, figure.Curve{Name: "a normal law of their mean and deviation", Look: figure.Smooth}
	for i, x := range values {
		at := distuv.UnitNormal.Quantile((float64(i) + 0.5) / float64(len(values)))
		rows.Points = append(rows.Points, figure.Point{X: at, Y: x})
		if i == 0 || i == len(values)-1 {
			line.Points = append(line.Points, figure.Point{X: at, Y: mean + deviation*at})
		}
	}
	return figure.Chart{
		ID: id + "-normal", Title: "What is left, beside a normal law", Height: 240, Curves: []figure.Curve{rows, line},
		X: figure.Dimension{Label: "normal quantile"}, Y: figure.Dimension{Label: "left, in units of " + r.Target.Name()},
		Description: fmt.Sprintf("%d rows of the sketch in order, over the quantiles of a normal law.", len(values)),
		Caption:     "Sums over many records lie on the line, whatever single records are. Marks that leave it at the ends show that few records carry much of what is left.",
	}.Figure()
}

// numberOrWhy is a number with its interval for these records, or why there is none.
func numberOrWhy(n analysis.Number) string {
	if n.Estimate == nil && n.Undefined != "" {
		return fmt.Sprintf("undefined: %s", n.Undefined)
	}
	return numberText(n)
}
