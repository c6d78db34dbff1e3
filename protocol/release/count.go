package release

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// If records of a columns sketch may be clipped, the sketch has a row after those of R. Its first
// entry is the number of clipped records, under the same noise as all entries. A standardised
// sketch has its count among its own sums.

// countWeight returns the weight of a clipped record in the count: an eighth of the sketch's
// sensitivity, so the row adds less than a hundredth to the noise, and at most the bound on an
// entry.
func (p Plan) countWeight() (int64, error) {
	if !p.Study.CountsClipped(p.Index) {
		return 0, nil
	}
	of, err := dp.RecordColumns(dp.RowNorms{L1: p.Spec().RowL1(), L2Squared: p.Spec().RowL2Squared()}, p.Clip, len(p.Features))
	if err != nil {
		return 0, err
	}
	weight := of.L1 / 32
	if p.Study.Privacy.Mechanism == dp.Gaussian {
		weight = dp.CeilSqrt(of.L2Squared/64+1) - 1
	}
	return max(1, min(weight, p.Clip)), nil
}

// CountRows returns how many rows a columns sketch has after those of R.
func (p Plan) CountRows() int {
	if p.counted == 0 {
		return 0
	}
	return 1
}

// CutWeight returns what each clipped record adds to the first entry of the count row; 0 if there
// is no such row.
func (p Plan) CutWeight() int64 { return p.counted }

// withCutCount appends the count of clipped records to an exact sketch.
func (p Plan) withCutCount(s sketch.Sketch, cut int64) sketch.Sketch {
	row := make([]int64, s.Cols)
	row[0] = cut * p.counted
	s.Data, s.Rows = append(s.Data, row...), s.Rows+1
	return s
}

// CutCount returns the noisy count of clipped records, given the first entry of the last row of a
// sketch or of the sum of that many parties' sketches.
func (p Plan) CutCount(entry int64, parties int) estimate.Noisy {
	unit := 1 / float64(p.counted)
	return estimate.Noisy{Value: float64(entry) * unit, Variance: float64(parties) * p.Noise.Variance() * unit * unit}
}
