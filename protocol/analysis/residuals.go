package analysis

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
)

// SketchRow is what a regression says of one row of the sketch: sums, with the random signs of that
// row, of the fitted values, around the origin of the target's column, and of the residuals. Both
// are in units of the target, for one record: divided by the square root of the number of records,
// to four digits. They are nearly normal whatever single records are, and include the noise, and
// records that some party lacks.
//
// Rows are computed after the release and spend no privacy budget. Releases without noise have
// none, because nobody is told their rows.
type SketchRow struct {
	Fitted   float64 `json:"fitted"`   // what the regression explains of the row
	Residual float64 `json:"residual"` // what the regression leaves of the row
}

// mostResiduals limits the rows to the first ones; all rows are alike.
const mostResiduals = 200

// residuals returns rows of U(y − a − Σ b·x). It is nil if the target's party has no column of
// ones, or if there is no noise. The offsets of all columns are subtracted by that one column of
// ones: those of other parties would each add as much noise again.
func (c *columns) residuals(vars []variable, target int, found *Regression) []SketchRow {
	ones, ok := c.ones(vars[target].group)
	if !ok || c.study.Privacy.Mechanism == dp.None || found.Intercept.Estimate == nil {
		return nil
	}
	place := func(v variable) int { return v.group.first + v.feature }
	observed := estimate.Combination{{Column: place(vars[target]), Weight: c.unit(vars[target])}}
	offset := *found.Intercept.Estimate - c.origin(vars[target])
	var fitted estimate.Combination
	for i, v := range slices.Delete(slices.Clone(vars), target, target+1) {
		b := found.Coefficients[i].Estimate
		if b == nil {
			return nil
		}
		fitted = append(fitted, estimate.Term{Column: place(v), Weight: *b * c.unit(v)})
		offset += float64(*b * c.origin(v))
	}
	fitted = append(fitted, estimate.Term{Column: ones.Column, Weight: offset / ones.Weight})
	// E[u·v] is the sum over the records, so the mean square of a row's entry is that sum over k.
	scale := c.rows.Unit * math.Sqrt(float64(c.rows.K)/math.Max(float64(ones.Records), 1))
	out := make([]SketchRow, min(c.rows.K, mostResiduals))
	for i := range out {
		at, of := c.entry(i, fitted), c.entry(i, observed)
		out[i] = SketchRow{fourDigits(scale * at), fourDigits(scale * (of - at))}
	}
	return out
}

// entry returns a combination of columns in one row of the sketch, in its integers.
func (c *columns) entry(row int, of estimate.Combination) (sum float64) {
	for _, term := range of {
		sum += float64(term.Weight * float64(c.rows.Data[row*c.rows.N+term.Column]))
	}
	return sum
}

// fourDigits rounds a number for a picture.
func fourDigits(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	return rounded
}

func checkResiduals(rows []SketchRow) error {
	if len(rows) > mostResiduals {
		return fmt.Errorf("%d residuals, at most %d", len(rows), mostResiduals)
	}
	return nil
}
