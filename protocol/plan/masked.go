package plan

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/study"
)

// leastMasked is the smallest number of parties of a masked sum.
const leastMasked = 3

// masking returns the cell of a copy of the study with masked sums, of which one party may collude.
func (c *cell) masking() *cell {
	s := *c.Study
	s.Sum, s.Colluding = study.SumMasked, 1
	out := *c
	out.Study = &s
	return &out
}

// maskable reports whether the study could mask its sums without other changes. It cannot if
// parties choose their own clips or scales.
func maskable(s *study.Study) bool {
	if s.Masked() || s.Privacy.Mechanism != dp.Gaussian || s.LateUntil != 0 || len(s.Parties) < leastMasked {
		return false
	}
	for i := range s.Sketches {
		if s.Merge(i) != study.Add || s.Sketches[i].OwnClip || s.Sketches[i].Standardise {
			return false
		}
	}
	return true
}

// maskedInstead recommends a masked sum if it makes the error of some analysis far smaller, by its
// hardest question.
func maskedInstead(o Options, sketches []Sketch) ([]Warning, error) {
	if !maskable(o.Study) {
		return nil, nil
	}
	var whose study.AnalysisKind
	most := 0.0
	for i, sk := range sketches {
		c := newCell(o, i).masking()
		for _, a := range o.Study.Analyses {
			if at, ok := o.Study.SketchFor(a); !ok || at != i || !c.known(a) {
				continue
			}
			_, e, _, err := c.hardest(c.questions(a))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.Kind, err)
			}
			for _, answer := range sk.Analyses {
				if answer.Kind != a.Kind || answer.Chosen.Undefined != "" || e.Undefined != "" || e.StandardError == 0 {
					continue
				}
				if ratio := answer.Chosen.StandardError / e.StandardError; ratio > most {
					whose, most = a.Kind, ratio
				}
			}
		}
	}
	if most < farFromBest {
		return nil, nil
	}
	return []Warning{{
		Text:   fmt.Sprintf("with a masked sum, the standard error of %s would be %.2g times smaller: the aggregator sees no party's contribution, and each party adds only a part of the noise. This assumes that at most one party colludes, and every party that begins must stay to the end", whose, most),
		Change: []string{"sum: masked", "colluding: 1"},
	}}, nil
}
