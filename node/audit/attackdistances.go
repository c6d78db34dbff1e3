package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/kernel/audit/attack"
	"gonum.org/v1/gonum/mat"
)

// knownRecords is how many records the attacker knows: d linearly independent ones are enough, and
// some must be left to attack.
func knownRecords(records, values int) int { return min(2*values, records/2) }

// trilateration locates other records from some known ones and the distances of all to these, as
// record-distance gives them. The attacker knows neither R nor a sketch.
func (s seen) trilateration(_ context.Context, view attack.View, x *mat.Dense) ([]AttackedResult, error) {
	m, d := x.Dims()
	_, k := view.R.Dims()
	t := knownRecords(m, d)
	if t < 2 {
		return nil, nil
	}
	known, others := mat.DenseCopyOf(view.Y.Slice(0, t, 0, k)), mat.DenseCopyOf(view.Y.Slice(t, m, 0, k))
	noise := 2 * float64(k) * view.Variance
	guess, err := attack.Distances{
		Known:   mat.DenseCopyOf(x.Slice(0, t, 0, d)),
		Between: attack.SquaredDistances(known, known, noise), From: attack.SquaredDistances(others, known, noise), Variance: view.Variance,
	}.Locate()
	if errors.Is(err, attack.ErrAllEqual) { // this gives no direction
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := s.results("trilateration", fmt.Sprintf("%d records, and how far others are from them; neither R nor a sketch", t), mat.DenseCopyOf(x.Slice(t, m, 0, d)), guess)
	if err != nil {
		return nil, err
	}
	out[0].Measure = ofOthers
	return out[:1], nil
}
