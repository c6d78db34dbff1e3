package file

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// sumsKeys reads what is particular to sides moments and cells.
func (o object) sumsKeys(sk *study.Sketch) {
	for _, key := range []string{"family", "k", "s", "helpers", "matrix"} {
		if o.Has(key) {
			o.Fail(key, "does not belong here: side %s does not project", sk.Side).Hint = "remove the key; " + string(sk.Side) + " takes " + map[sketch.Side]string{sketch.Moments: "clip, products, sums, fourth, standardise and share", sketch.Cells: "L, q, clip and share"}[sk.Side]
		}
	}
	if sk.Side != sketch.Cells {
		o.forbid("L", "belongs to side cells")
		o.forbid("q", "belongs to side cells")
		o.momentKeys(sk)
		return
	}
	o.forbidMoments()
	o.forbid("standardise", "belongs to sides columns and moments")
	sk.Projection = projection.Spec{Family: projection.Hadamard, K: o.Whole("L")}
	sk.Subspace = o.Whole("q")
}

// validateSums checks a sketch of side moments or cells.
func (r *reader) validateSums(s *study.Study, i int) {
	sk, path := s.Sketches[i], fmt.Sprintf("sketches[%d]", i)
	const otherwise = "take side columns or records here"
	switch {
	case s.Partition != study.Horizontal:
		r.Fail(path+".side", "%s sums over whole records, of which a party of a vertical study has a part each", sk.Side).Hint = otherwise
		return
	case s.Privacy.Mechanism != dp.Gaussian && s.Privacy.Mechanism != dp.None:
		r.Fail(path+".side", "%s is refused under %s: the sensitivity of sums of products is a length, which gaussian noise covers", sk.Side, s.Privacy.Mechanism).Hint = "take unit: record and mechanism: gaussian, or " + otherwise
		return
	case s.Privacy.Unit == dp.Attribute:
		r.Fail(path+".side", "%s is refused under unit attribute: one value is in as many sums as a record has values", sk.Side).Hint = "take unit: record, which protects more for less, or " + otherwise
		return
	}
	if sk.Side == sketch.Moments {
		r.validateMoments(s, i)
	}
	if sk.Whole && (!s.Bounded() || sk.Standardise) {
		r.Fail(path+".clip", "whole wants bounds of every column, and nothing standardised: values around a centre have no end").Hint = "take a length, or of moments clip: own"
	}
	if !sk.OwnClip && !sk.Whole {
		r.validateClip(s, sk, path)
	}
	d := len(s.Features(0, i))
	switch {
	case d == 0:
		r.Fail(path, "has no column").Hint = "the label is left out of cells"
	case sk.Side == sketch.Moments && (d > sketch.MaxMomentColumns || s.MomentLayout(i).Entries() > sketch.MaxMomentEntries):
		r.Fail(path, "%d features are too many for moments, which sum the products of all pairs; at most %d features and %d sums are possible", d, sketch.MaxMomentColumns, sketch.MaxMomentEntries)
	case sk.Side == sketch.Cells:
		r.validateDirections(s, i, d, path)
	default:
		if err := s.MomentsFit(i, s.Bits, 0); err != nil {
			r.Fail(path+".clip", "%v", err).Hint = "take bits: auto, or a smaller clip"
		}
	}
}

func (r *reader) validateDirections(s *study.Study, i, d int, path string) {
	sk := s.Sketches[i]
	l, most := sk.Projection.K, min(sketch.MaxDirections, projection.HadamardSize(d))
	switch {
	case !r.Given(path + ".L"):
		r.Fail(path+".L", "is missing").Hint = "how many directions cut the space of records in two each, like 5 for 32 cells; plan says what fits"
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
