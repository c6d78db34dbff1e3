package audit

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/sum"
	"gonum.org/v1/gonum/mat"
)

// sums attacks a sketch of sums over records, in which no number is about one record alone. Moments
// reveal of a record only the mean of all. Other sums, except cells, help nobody guess its values.
// With cells, an attacker who knows R and a record's cell guesses the mean of that cell. The guess
// is exact if the cell has no other record and there is no noise.
func (s seen) sums() ([]AttackedResult, error) {
	if s.plan.Sketch().Side != sketch.Cells && s.plan.Moments == nil {
		return []AttackedResult{}, nil
	}
	x := s.truth()
	m, d := x.Dims()
	guess := mat.NewDense(m, d, nil)
	centres, one := s.plan.Study.Centres(s.plan.Index), float64(s.plan.Study.Bits.One())
	name, knows := "mean of all", "the number of records"
	var cellOf func(record int) int
	if s.plan.Sketch().Side == sketch.Cells {
		name, knows = "mean of the cell", "R, and which cell a record is in"
		cells, err := s.cells(centres)
		if err != nil {
			return nil, err
		}
		cellOf = func(record int) int { return cells[record] }
	}
	var means []float64
	if cellOf == nil {
		var err error
		if means, err = s.means(); err != nil {
			return nil, err
		}
	}
	for i := range m {
		for j := range d {
			at := 0.0
			if cellOf == nil {
				at = means[j]
			} else {
				at = s.summed(cellOf, i, j)
			}
			guess.Set(i, j, at+float64(centres[j])/one)
		}
	}
	return s.results(name, knows, x, guess)
}

// means returns the features' means over all records, relative to the public centre.
func (s seen) means() ([]float64, error) {
	sums, err := s.plan.Summed(s.exact.Sketch)
	if err != nil {
		return nil, err
	}
	tally, err := s.plan.MomentTally(nil, sums, s.records, 1)
	if err != nil {
		return nil, err
	}
	m, err := estimate.NewTallied([]estimate.Tally{tally}, s.plan.TallyColumns())
	if err != nil {
		return nil, err
	}
	return m.Means(), nil
}

// summed returns a feature's mean over a record's cell, relative to the public centre. It is 0, the
// centre, if the cell's noisy count is below one half.
func (s seen) summed(cellOf func(int) int, record, feature int) float64 {
	unit := s.plan.Unit()
	row := s.exact.Sketch.Row(cellOf(record))
	count := float64(row[0]) / float64(s.plan.Study.CellWeights(s.plan.Index).Count)
	if count < 0.5 {
		return 0
	}
	return float64(row[1+feature]) * unit / count
}

// cells returns the cells of the sampled records.
func (s seen) cells(centres []int64) ([]int, error) {
	directions, err := sum.Directions(s.plan.Study, s.plan.Index, s.root)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(s.sample.records))
	x, products := make([]int64, len(centres)), make([]int64, directions.Spec().K)
	for i, record := range s.sample.records {
		for j, at := range s.picks {
			x[j] = s.valueOf(record, j, at) - centres[j]
		}
		if s.plan.Clip > 0 {
			dp.ClipL2(x, s.plan.Clip)
		}
		directions.Project(products, x)
		out[i] = sketch.CellOf(products)
	}
	return out, nil
}
