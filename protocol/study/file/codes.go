package file

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// ofCodes returns the row of counts and sums of records, by the code points of the second round.
func ofCodes() additive {
	return additive{side: sketch.Codes, check: (*reader).validateCodes}
}

// validateCodes checks a sketch of the second round.
func (r *reader) validateCodes(s *study.Study, i int) {
	path := fmt.Sprintf("sketches[%d]", i)
	if !r.validateRecord(s, i) {
		return
	}
	switch d := len(s.Features(0, i)); {
	case !s.TwoRounds():
		r.Fail(path+".side", "codes uses the result of a first round, and the study has only one round").Hint = "write rounds: 2, or take side cells"
	case d < 2 || d > decompose.MaxDim:
		r.Fail(path+".side", "%d features: codes needs eigenvectors, which are found of 2 to %d features", d, decompose.MaxDim)
	case !hasProducts(s):
		r.Fail(path+".side", "codes needs a sketch of side moments with products, whose eigenvectors it uses").Hint = "add {side: moments} before it"
	}
}

// hasProducts reports whether a sketch of the study is of moments that have products.
func hasProducts(s *study.Study) bool {
	at, ok := s.Moments()
	return ok && s.Sketches[at].Moments.Sums > 0
}

// validateRounds checks that a study of two rounds has sketches for both, and that the first round
// fits on the board.
func (r *reader) validateRounds(s *study.Study) {
	codes, looks := 0, 0
	for i, sk := range s.Sketches {
		path := fmt.Sprintf("sketches[%d].side", i)
		switch {
		case sk.Side == sketch.Codes:
			codes++
		case sk.Side == sketch.Look:
			looks++
		case s.TwoRounds() && !sk.Side.Sums():
			r.Fail(path, "%s is refused with rounds: 2: the first round is on the board, where every party can read it", sk.Side).Hint = "take another study for it"
		}
	}
	switch {
	case s.TwoRounds() && codes > 0 && looks > 0:
		r.Fail("rounds", "2 allows codes or a look, and the study has both").Hint = "remove {side: look}, and give moments a length, or take another study for k-means"
	case s.TwoRounds() && looks > 1:
		r.Fail("rounds", "2 needs exactly one sketch of side look, for all moments of the second round, and there are %d", looks).Hint = "remove the others"
	case s.TwoRounds() && codes != 1 && looks == 0:
		r.Fail("rounds", "2 needs exactly one sketch of side codes, for the second round, and there are %d", codes).Hint = "add {side: codes}, or with sum: masked {side: look}, or remove the key"
	case s.TwoRounds() && s.LateUntil != 0:
		r.Fail("late_until", "is refused with rounds: 2: a late party would miss the first round").Hint = "remove the key, or take one round"
	}
}
