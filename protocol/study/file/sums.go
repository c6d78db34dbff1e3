package file

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/study"
)

// otherSides is the hint if a side that sums over records is not possible.
const otherSides = "take side columns or records here"

// validateSums checks a sketch of a side that sums over records.
func (r *reader) validateSums(s *study.Study, row additive, i int) {
	sk, path := s.Sketches[i], fmt.Sprintf("sketches[%d]", i)
	if s.Partition != study.Horizontal {
		r.Fail(path+".side", "%s needs whole records, and in a vertical study each party has only a part of each", sk.Side).Hint = otherSides
		return
	}
	if len(s.Features(0, i)) == 0 {
		r.Fail(path, "has no column").Hint = "the label is left out of cells"
		return
	}
	row.check(r, s, i)
}

// validateLength checks the guarantee and the length of a sketch that clips records; it returns
// false if further checks are of no use.
func (r *reader) validateLength(s *study.Study, i int) bool {
	sk, path := s.Sketches[i], fmt.Sprintf("sketches[%d]", i)
	if !r.validateRecord(s, i) {
		return false
	}
	if sk.Whole && (!s.AllBounded() || sk.Standardise) {
		r.Fail(path+".clip", "whole needs bounds for every column, and no standardised one: values around a centre have no limit").Hint = "take a length, or of moments clip: own"
	}
	if !sk.OwnClip && !sk.Whole {
		r.validateClip(s, sk, path)
	}
	return true
}

// validateRecord checks that the guarantee fits sensitivities that are lengths of records.
func (r *reader) validateRecord(s *study.Study, i int) bool {
	sk, path := s.Sketches[i], fmt.Sprintf("sketches[%d]", i)
	switch {
	case s.Privacy.Mechanism != dp.Gaussian && s.Privacy.Mechanism != dp.None:
		r.Fail(path+".side", "%s is refused under %s: the sensitivity of sums of products is a length, which gaussian noise covers", sk.Side, s.Privacy.Mechanism).Hint = "take unit: record and mechanism: gaussian, or " + otherSides
		return false
	case s.Privacy.Unit == dp.Attribute:
		r.Fail(path+".side", "%s is refused under unit attribute: one value is in as many sums as a record has values", sk.Side).Hint = "take unit: record, which protects more for less, or " + otherSides
		return false
	}
	return true
}
