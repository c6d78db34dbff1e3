package study

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed"
)

// ofCells is the row of numbers of records, and sums of them, by cell. The directions between the cells
// are columns of a Hadamard matrix.
func ofCells() additive {
	return additive{
		side: sketch.Cells, publishes: []seed.Label{seed.CellRows, seed.CellPermutation},
		keys: []string{"L", "q"}, takes: "L, q, clip and share",
		read: func(o object, sk *Sketch) {
			o.forbid("standardise", "belongs to sides columns and moments")
			sk.Projection = projection.Spec{Family: projection.Hadamard, K: o.integer("L")}
			sk.Subspace = o.integer("q")
		},
		complete: func(_ *reader, s *Study, index int) {
			if sk := &s.Sketches[index]; sk.Whole {
				sk.Clip = s.TypicalLength(index)
			}
		},
		check: (*reader).validateCells,
		encode: func(e *encoder, sk Sketch) {
			if sk.Subspace > 0 {
				e.whole("sketch.q", sk.Subspace)
			}
		},
		limit: func(s *Study, index int, bound int64) int64 {
			return bound / max(s.CellWeights(index).Count, s.Reach())
		},
		method: func(sk Sketch) string { return fmt.Sprintf("%d cells", 1<<sk.Projection.K) },
		says:   (*Study).describeCells,
	}
}

// CellWeights are those of a cells sketch. Where nothing can be cut, nothing is counted.
func (s *Study) CellWeights(index int) dp.CellWeights {
	return dp.NewCellWeights(s.length(index), s.IntegerClip(index) > 0 && !s.Sketches[index].Whole)
}

// validateCells checks the directions and the clip.
func (r *reader) validateCells(s *Study, i int) {
	if !r.validateLength(s, i) {
		return
	}
	sk, d, path := s.Sketches[i], len(s.Features(0, i)), fmt.Sprintf("sketches[%d]", i)
	l, most := sk.Projection.K, min(sketch.MaxDirections, projection.HadamardSize(d))
	switch {
	case !r.given(path + ".L"):
		r.fail(path+".L", "is missing").Hint = "how many directions cut the space of records in two each, like 5 for 32 cells; plan says what fits"
	case l < 1 || l > most:
		r.fail(path+".L", "%d is not between 1 and %d, for %d features", l, most, d)
	case sk.Subspace > 0 && d > decompose.MaxDim:
		r.fail(path+".q", "%d features are too many: eigenvectors are found of at most %d", d, decompose.MaxDim)
	case sketch.CellEntries(l, d, s.CellWeights(i)) > sketch.MaxCellEntries:
		r.fail(path+".L", "2^%d cells of %d features are too many numbers, at most %d are possible", l, d, sketch.MaxCellEntries)
	case r.given(path+".q") && (sk.Subspace < 1 || sk.Subspace > d):
		r.fail(path+".q", "%d is not between 1 and the %d features", sk.Subspace, d)
	case sk.Subspace > 0 && s.moments() < 0:
		r.fail(path+".q", "needs a sketch of side moments, whose eigenvectors it counts").Hint = "remove q, or add {side: moments, clip: …}"
	}
}

// describeCells says what a cells sketch is.
func (s *Study) describeCells(i int, noisy string) string {
	sk, d := s.Sketches[i], len(s.Features(0, i))
	n := int64(sketch.CellEntries(sk.Projection.K, d, s.CellWeights(i)))
	cut := ""
	if s.CellWeights(i).Cut > 0 {
		cut = fmt.Sprintf(", and a %s count of your records that were cut to the clip", noisy)
	}
	return fmt.Sprintf("cells, %d integers, %s, however many records there are. Each record falls into one of 2^%d cells, by %d random directions. For each cell leave a %s count of your records in it and %s sums of their %d values%s. The count tells roughly how many of your records are alike, and the sums what they are like on average; noise hides whether any one record is among them",
		n, s.sizes(n, n), sk.Projection.K, sk.Projection.K, noisy, noisy, d, cut)
}
