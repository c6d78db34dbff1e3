package file

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// validateSum checks what a masked sum requires of the study.
func (r *reader) validateSum(s *study.Study) {
	const plain = "take sum: plain"
	if !s.Masked() {
		if r.Given("colluding") {
			r.Fail("colluding", "does not belong here: it is for masked sums").Hint = "remove the key, or take sum: masked"
		}
		return
	}
	if s.Partition != study.Horizontal {
		r.Fail("sum", "masked needs sketches that are summed over the parties, and in a vertical study none are: each party has columns of its own").Hint = plain
		return
	}
	for i, sk := range s.Sketches {
		if sk.Side == sketch.Records {
			r.Fail(fmt.Sprintf("sketches[%d].side", i), "records is refused with sum: masked: the parties' rows are put one below the other, not added").Hint = "take side cells, which answers k-means from a sum, or " + plain
		}
	}
	if m := s.Privacy.Mechanism; m != dp.Gaussian && m != dp.None {
		why := "the laplace noise of several parties does not add up to laplace noise"
		if m == dp.RandomisedResponse {
			why = "each value is randomised by itself, before anything is added up, so there is no noise to share"
		}
		r.Fail("privacy.mechanism", "%s is refused with sum: masked: %s", m, why).Hint = "take mechanism: gaussian, or " + plain
	}
	if s.LateUntil != 0 {
		r.Fail("late_until", "does not belong here: masks cancel only in the sum over the parties that agreed on the seed, and a late party did not").Hint = "remove the key, or " + plain
	}
	r.validateColluding(s)
}

func (r *reader) validateColluding(s *study.Study) {
	most := len(s.Parties) - 2
	switch {
	case most < 1:
		r.Fail("sum", "masked needs at least 3 parties: with 2, each can compute the other's part from the sum and its own").Hint = "take sum: plain"
	case !r.Given("colluding"):
		r.Fail("colluding", "is missing").Hint = "how many parties may share what they know, at least 1; only the noise of the others protects"
	case s.Colluding < 1 || s.Colluding > most:
		r.Fail("colluding", "%d is not between 1 and %d", s.Colluding, most).Hint = "at least 1, because a party that reads the result knows its own part of the noise; at least two other parties must share the noise"
	case s.Quorum <= s.Colluding:
		r.Fail("quorum", "%d leaves nobody beside the %d that may collude", s.Quorum, s.Colluding).Hint = "a larger quorum, or a smaller colluding"
	}
}
