package release

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Where records of a sketch of columns may be cut, a row stands behind those of R: how many were, in
// its first entry, under the noise of all entries. A standardised sketch has its count among its own sums.

// countWeight is what a record that was cut counts for: an eighth of what the sketch moves, so that the row
// adds less than a hundredth to the noise, and no more than an entry may be.
func (p Plan) countWeight() (int64, error) {
	if !p.Study.CountsCut(p.Index) {
		return 0, nil
	}
	of, err := dp.RecordColumns(dp.RowNorms{L1: p.Spec().RowL1(), L2Squared: p.Spec().RowL2Squared()}, p.Clip, len(p.Features))
	if err != nil {
		return 0, err
	}
	weight := of.L1 / 32
	if p.Study.Privacy.Mechanism == dp.Gaussian {
		weight = dp.Length(of.L2Squared/64+1) - 1
	}
	return max(1, min(weight, p.Clip)), nil
}

// CountRows is how many rows stand behind those of R in a sketch of columns.
func (p Plan) CountRows() int {
	if p.counted == 0 {
		return 0
	}
	return 1
}

// CutWeight is what each record that was cut adds to the first entry of the row of the count; 0 where there
// is none.
func (p Plan) CutWeight() int64 { return p.counted }

// behind is an exact sketch with the count of cut records behind it.
func (p Plan) behind(s sketch.Sketch, cut int64) sketch.Sketch {
	row := make([]int64, s.Cols)
	row[0] = cut * p.counted
	s.Data, s.Rows = append(s.Data, row...), s.Rows+1
	return s
}

// CutCount is the noisy count of records that were cut, by the first entry of the last row of a sketch or of
// the sum of those of so many parties.
func (p Plan) CutCount(entry int64, parties int) estimate.Noisy {
	unit := 1 / float64(p.counted)
	return estimate.Noisy{Value: float64(entry) * unit, Variance: float64(parties) * p.Noise.Variance() * unit * unit}
}
