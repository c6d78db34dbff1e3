package file

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// ofCells returns the row of counts and sums of records, by cell. The directions between the cells
// are columns of a Hadamard matrix.
func ofCells() additive {
	return additive{
		side: sketch.Cells,
		keys: schema.Keys[study.Sketch]{
			{
				Name: "L", Doc: "cells, and needed there: random directions; there are 2^L cells",
				Form: schema.Custom("whole number, 1 to the least power of two that holds the features, at most 12", func(r *schema.Reader, at schema.Item, sk *study.Sketch) {
					sk.Projection = projection.Spec{Family: projection.Hadamard, K: r.Whole(at)}
				}),
			},
			{
				Name: "q", Path: "sketch.q", IfSet: true, Doc: "cells: eigenvectors of the summed moments that cells are projected on", Unset: "none",
				Form: anyWhole(func(sk *study.Sketch) *int { return &sk.Subspace }, "whole number, 1 to the number of features"),
			},
		},
		complete: func(_ *reader, s *study.Study, index int) {
			if sk := &s.Sketches[index]; sk.Whole {
				sk.Clip = s.TypicalLength(index)
			}
		},
		check: (*reader).validateCells,
	}
}

// validateCells checks the directions and the clip.
func (r *reader) validateCells(s *study.Study, i int) {
	if !r.validateLength(s, i) {
		return
	}
	sk, d, path := s.Sketches[i], len(s.Features(0, i)), fmt.Sprintf("sketches[%d]", i)
	l, most := sk.Projection.K, min(sketch.MaxDirections, projection.HadamardSize(d))
	switch {
	case !r.Given(path + ".L"):
		r.Fail(path+".L", "is missing").Hint = "how many times the space of records is cut in two, like 5 for 32 cells; plan says what fits"
	case l < 1 || l > most:
		r.Fail(path+".L", "%d is not between 1 and %d, for %d features", l, most, d)
	case sk.Subspace > 0 && d > decompose.MaxDim:
		r.Fail(path+".q", "%d features are too many: eigenvectors are found of at most %d", d, decompose.MaxDim)
	case sketch.CellEntries(l, d, s.CellWeights(i)) > sketch.MaxCellEntries:
		r.Fail(path+".L", "2^%d cells of %d features are too many numbers, at most %d are possible", l, d, sketch.MaxCellEntries)
	case r.Given(path+".q") && (sk.Subspace < 1 || sk.Subspace > d):
		r.Fail(path+".q", "%d is not between 1 and the %d features", sk.Subspace, d)
	case sk.Subspace > 0 && !hasMoments(s):
		r.Fail(path+".q", "needs a sketch of side moments, whose eigenvectors it counts").Hint = "remove q, or add {side: moments, clip: …}"
	}
}

// hasMoments reports whether a sketch of the study is of moments.
func hasMoments(s *study.Study) bool {
	_, ok := s.Moments()
	return ok
}
