package sum

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/stream"
)

// cells returns the row of counts and sums of records, by cell.
func cells() Row {
	return Row{
		Side: sketch.Cells,
		Shape: func(s *study.Study, index int) (rows, cols int64) {
			return int64(sketch.CellRows(s.Sketches[index].Projection.K, s.CellWeights(index))), int64(1 + len(s.Features(0, index)))
		},
		Sensitivity: func(s *study.Study, index int, clip int64) (dp.Sensitivity, error) {
			return dp.RecordCells(clip, len(s.Features(0, index)), s.CellWeights(index), s.Neighbours())
		},
		Open: func(o Options) (Adder, error) {
			directions, err := Directions(o.Study, o.Index, o.Root)
			if err != nil {
				return nil, err
			}
			return sketch.NewCells(directions, o.Study.CellWeights(o.Index), o.centred())
		},
		Measure: func(o Options) (Lengths, error) { return sketch.NewLengths(o.centred()) },
		Largest: func(s *study.Study, index int, _ int64, _ float64) float64 {
			return float64(s.CellWeights(index).Count)
		},
		Extremes: axes,
		DisjointEntries: func(s *study.Study, index int) int { // all records change the count of clipped records
			return (1 + len(s.Features(0, index))) << s.Sketches[index].Projection.K
		},
	}
}

// Directions returns the directions that cut the space of records into the cells of a sketch: L
// columns of a Hadamard matrix whose rows belong to columns of the study, under separate keys.
func Directions(s *study.Study, index int, root seed.Keys) (*projection.Fixed, error) {
	signs, err := root.Derive(seed.CellRows)
	if err != nil {
		return nil, err
	}
	permutation, err := root.Derive(seed.CellPermutation)
	if err != nil {
		return nil, err
	}
	return projection.FixHadamard(s.Sketches[index].Projection, stream.New(signs), stream.New(permutation), s.RowLabels(s.Features(0, index)))
}
