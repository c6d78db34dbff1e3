package node

import (
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// sums attacks a sketch of side moments or cells, in which no number is about one record
// alone. Of a record, moments tell no more than the mean of all. Of cells, whoever knows R
// and in which cell a record is guesses the mean of that cell: right to the value where the
// cell has no other record and there is no noise.
func (s seen) sums() ([]AttackedResult, error) {
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
	for i := range m {
		for j := range d {
			at := s.summed(cellOf, i, j)
			guess.Set(i, j, at+float64(centres[j])/one)
		}
	}
	return s.results(name, knows, x, guess)
}

// summed is the mean, around the public centre, of a feature over all records, or over a
// record's cell; 0, the centre, where a cell's count says nothing.
func (s seen) summed(cellOf func(int) int, record, feature int) float64 {
	unit := s.plan.Unit()
	if cellOf == nil {
		first := s.exact.Sketch.Cols - len(s.plan.Features)
		weight := float64(s.plan.Study.MomentWeights(s.plan.Index).Sum)
		return float64(s.exact.Sketch.Data[first+feature]) / weight * unit / float64(s.records)
	}
	row := s.exact.Sketch.Row(cellOf(record))
	count := float64(row[0]) / float64(s.plan.Study.CellWeight(s.plan.Index))
	if count < 0.5 {
		return 0
	}
	return float64(row[1+feature]) * unit / count
}

// cells are those of the sampled records.
func (s seen) cells(centres []int64) ([]int, error) {
	directions, err := s.plan.Directions(s.root)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(s.sample.records))
	x, products := make([]int64, len(centres)), make([]int64, directions.Spec().K)
	for i, record := range s.sample.records {
		for j, at := range s.picks {
			x[j] = record.values[at] - centres[j]
		}
		if s.plan.Clip > 0 {
			dp.ClipL2(x, s.plan.Clip)
		}
		directions.Project(products, x)
		out[i] = sketch.CellOf(products)
	}
	return out, nil
}
