package show

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofRegression() kind {
	return kind{name: study.Regression, own: func(s *section) { show(s.a.Regression, s.regression) }}
}

// regression shows the coefficients of a regression, and how well it fits.
func (s *section) regression(r analysis.Regression) {
	s.skip("regression", "regression_coefficients", "regression_reference", "regression_left_out", "regression_residuals")
	target := r.Target.Name()
	s.heading.Of = target
	if fit := r.RSquared.Shown(); fit.Undefined == "" {
		s.heading.Says = "R² is " + fit.String() + " " + block.ForRecords
	}
	var rows []block.ForestRow
	for i, f := range s.a.Features {
		rows = append(rows, block.ForestRow{Name: f.Name(), Number: r.Coefficients[i].Shown()})
	}
	s.forest("coefficients", "Coefficients", block.Forest{Rows: rows, Common: ofOneSize(rows), Unit: "of " + target + ", for one more of the column"})
	if len(r.Residuals) > 0 {
		s.figure("residuals", residuals(r))
		s.figure("normal", normality(r))
	}
	if ridge := r.Ridged(); ridge != "" {
		s.notes = append(s.notes, ridge)
	}
	s.compared(r.Reference)
	s.leftOut(r.LeftOut, faint)
	of := len(rows)
	rows = append(rows[:min(of, block.MostRows)],
		block.ForestRow{Name: "intercept", Number: r.Intercept.Shown()}, block.ForestRow{Name: "R²", Number: r.RSquared.Shown()},
		block.ForestRow{Name: "residual standard deviation", Number: r.Residual.Shown()}, block.ForestRow{Name: "least eigenvalue of the columns", Number: r.Condition.Shown()})
	fit := estimates("column", "coefficient", rows)
	fit.Caption = target + " is the sum of these, each times its column, and how well that fits"
	s.tables = append(s.tables, fit)
	if len(r.Residuals) > 0 {
		left := block.Table{Caption: "Rows of the sketch: fitted values and residuals", Columns: []block.Column{block.Numbers("fitted"), block.Numbers("residual")}, Of: len(r.Residuals), Folded: true}
		for _, row := range r.Residuals[:min(len(r.Residuals), block.MostRows)] {
			left.Rows = append(left.Rows, block.Cells(block.Brief(row.Fitted), block.Brief(row.Residual)))
		}
		s.tables = append(s.tables, left)
	}
}

// residuals draws the residuals of rows of the sketch over the fitted values.
func residuals(r analysis.Regression) block.Figure {
	curve := block.Curve{Look: block.Marks}
	for _, row := range r.Residuals {
		curve.Points = append(curve.Points, block.Point{X: row.Fitted, Y: row.Residual})
	}
	return block.Figure{
		Title:       "Residuals over fitted values, by row of the sketch",
		Description: fmt.Sprintf("%d rows of the sketch: random sums over all records, in units for one record.", len(r.Residuals)),
		Caption:     "A mark is a row of the sketch, a random sum over all records, so no mark is about one of them. They should scatter about the line without a slope; a slope means that the fit misses something, or that the explaining columns have noise.",
		Plot: block.Chart{
			Height: 240, Curves: []block.Curve{curve}, X: block.Dimension{Label: "fitted"}, Y: block.Dimension{Label: "left, in units of " + r.Target.Name()},
			References: []block.Reference{{Name: "0", At: 0}},
		},
	}
}

// normality draws residuals of rows over their quantiles under a normal law.
func normality(r analysis.Regression) block.Figure {
	values := make([]float64, len(r.Residuals))
	for i, row := range r.Residuals {
		values[i] = row.Residual
	}
	slices.Sort(values)
	mean, deviation := stat.MeanStdDev(values, nil)
	rows, line := block.Curve{Name: "rows of the sketch", Look: block.Marks}, block.Curve{Name: "a normal distribution of their mean and standard deviation", Look: block.Smooth}
	for i, x := range values {
		at := distuv.UnitNormal.Quantile((float64(i) + 0.5) / float64(len(values)))
		rows.Points = append(rows.Points, block.Point{X: at, Y: x})
		if i == 0 || i == len(values)-1 {
			line.Points = append(line.Points, block.Point{X: at, Y: mean + deviation*at})
		}
	}
	return block.Figure{
		Title:       "Residuals beside a normal distribution",
		Description: fmt.Sprintf("%d rows of the sketch in order, over the quantiles of a normal distribution.", len(values)),
		Caption:     "Sums over many records lie on the line, whatever the distribution of single records. Marks that leave it at the ends show that a few records cause much of the residuals.",
		Plot: block.Chart{
			Height: 240, Curves: []block.Curve{rows, line},
			X: block.Dimension{Label: "normal quantile"}, Y: block.Dimension{Label: "left, in units of " + r.Target.Name()},
		},
	}
}
