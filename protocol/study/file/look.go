package file

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// ofLook returns the row of the first round, which prepares the moments of the second.
func ofLook() additive {
	return additive{side: sketch.Look, check: (*reader).validateLook}
}

// validateLook checks a first look.
func (r *reader) validateLook(s *study.Study, i int) {
	path := fmt.Sprintf("sketches[%d].side", i)
	if !r.validateRecord(s, i) {
		return
	}
	scaled := 0
	for _, at := range s.PooledMoments() {
		if s.Sketches[at].Standardise {
			scaled++
		}
	}
	switch n := len(s.PooledMoments()); {
	case s.Privacy.Mechanism == dp.None:
		r.Fail(path, "look does not belong here: it is needed only with noise, and there is none").Hint = "remove the sketch"
	case !s.Masked():
		r.Fail(path, "look is refused with sum: plain, where each party looks at its own records, in one round").Hint = "write clip: own and standardise: own in moments alone, or sum: masked"
	case !s.TwoRounds():
		r.Fail(path, "look belongs to the first of two rounds, and the study has only one").Hint = "write rounds: 2, or give moments a length in place of a look"
	case n == 0:
		r.Fail(path, "no sketch uses the look").Hint = "write clip: own, or standardise: own, in a sketch of side moments"
	case scaled != 0 && scaled != n:
		r.Fail(path, "a look measures either lengths, or centres and spreads, and the sketches of side moments need both").Hint = "write standardise: own in each of them, or in none"
	}
}
