package analysis

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/study"
)

// Labeller tells the clusters of a party's own records by a published model. It runs where
// the records are.
type Labeller struct {
	model   *mat.Dense
	centres []int64
	clip    int64
	one     float64
	scratch []int64
	point   []float64
}

// NewLabeller takes a k-means by cells from a result of the study that Decode let pass.
func NewLabeller(s *study.Study, a Analysis) (*Labeller, error) {
	if a.CellMeans == nil || a.Sketch < 0 || a.Sketch >= len(s.Sketches) {
		return nil, fmt.Errorf("labelling records: the result has no model of cells to label them by")
	}
	centres, rows := s.Centres(a.Sketch), a.CellMeans.Model
	l := &Labeller{
		model: mat.NewDense(max(len(rows), 1), len(centres), nil), centres: centres, clip: s.IntegerClip(a.Sketch),
		one: float64(s.Bits.One()), scratch: make([]int64, len(centres)), point: make([]float64, len(centres)),
	}
	for c, row := range rows {
		if len(row) != len(centres) {
			return nil, fmt.Errorf("labelling records: cluster %d has %d coordinates, a record %d", c, len(row), len(centres))
		}
		l.model.SetRow(c, row)
	}
	return l, nil
}

// Label returns the cluster of a record, by its encoded values in the order of the
// sketch's features: the nearest, after the record was centred and clipped as it was for
// the sketch. It panics where they are fewer.
func (l *Labeller) Label(values []int64) int {
	for i, c := range l.centres {
		l.scratch[i] = values[i] - c
	}
	if l.clip > 0 {
		dp.ClipL2(l.scratch, l.clip)
	}
	for i, v := range l.scratch {
		l.point[i] = float64(v) / l.one
	}
	return cluster.Nearest(l.model, l.point)
}
