package study

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed"
)

// ofCells returns the row of counts and sums of records, by cell. The directions between the cells
// are columns of a Hadamard matrix.
func ofCells() additive {
	return additive{
		side: sketch.Cells, publishes: []seed.Label{seed.CellRows, seed.CellPermutation},
		limit: func(s *Study, index int, bound int64) int64 {
			return bound / max(s.CellWeights(index).Count, s.Reach())
		},
		method: func(sk Sketch) string { return fmt.Sprintf("%d cells", 1<<sk.Projection.K) },
		says:   (*Study).describeCells,
	}
}

// CellWeights returns the weights of a cells sketch. Clipped records are counted only if records
// can be clipped.
func (s *Study) CellWeights(index int) dp.CellWeights {
	return dp.NewCellWeights(s.length(index), s.IntegerClip(index) > 0 && !s.Sketches[index].Whole)
}

// describeCells describes a cells sketch.
func (s *Study) describeCells(i int, noisy string) string {
	sk, d := s.Sketches[i], len(s.Features(0, i))
	n := int64(sketch.CellEntries(sk.Projection.K, d, s.CellWeights(i)))
	cut := ""
	if s.CellWeights(i).Cut > 0 {
		cut = fmt.Sprintf(", and a %s count of your records that were cut to the clip", noisy)
	}
	return fmt.Sprintf("cells, %d integers, %s, however many records there are. Each record falls into one of 2^%d cells, by %d random directions. For each cell leave a %s count of your records in it and %s sums of their %d values%s. The count tells roughly how many of your records are alike, and the sums what they are like on average; noise hides whether any one record is among them",
		n, s.Sizes(n, n), sk.Projection.K, sk.Projection.K, noisy, noisy, d, cut)
}
