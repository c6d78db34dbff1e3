package analysis

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol/block"
)

// mostAmounts limits the number of sentences from Amounts.
const mostAmounts = 20

// Amounts says what means of transformed columns are in the columns' own units, in a sentence each.
// The transforms increase strictly, so estimate and interval ends are transformed back one by one,
// and the interval keeps its level. write formats a number and its interval.
func (a Analysis) Amounts(write func(estimate, low, high float64) (number, between string)) (out []string) {
	for i, n := range a.Means[:min(len(a.Means), len(a.Features))] {
		f := a.Features[i]
		t, name, transformed := fixedpoint.Titled(f.Column)
		if !transformed || n.Estimate == nil || n.Low == nil || n.High == nil || len(out) == mostAmounts {
			continue
		}
		is := "the value"
		if t.IsLog() {
			is = "the geometric mean"
		}
		f.Column = name
		number, between := write(t.Invert(*n.Estimate), t.Invert(*n.Low), t.Invert(*n.High))
		between += " " + block.ForRecords
		if n.PopulationLow != nil && n.PopulationHigh != nil {
			_, people := write(t.Invert(*n.Estimate), t.Invert(*n.PopulationLow), t.Invert(*n.PopulationHigh))
			between += ", " + people + " " + block.ForPeople
		}
		out = append(out, fmt.Sprintf("The mean of %s stands for %s of %s, %s (%s). It is not the mean of %s, which is larger where a few values are very large.", a.Features[i].Name(), name, number, is, between, f.Name()))
	}
	return out
}
