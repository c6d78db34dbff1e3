package console

import (
	"fmt"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/study"
)

// Verdict is the short form of a plan for a study.
type Verdict struct {
	Usable   int            `json:"usable"`  // number of usable analyses
	Useless  bool           `json:"useless"` // every analysis has a forecast, and none is usable
	Analyses []judgedAnswer `json:"analyses"`
	Parties  []plan.Party   `json:"parties"` // with the record counts of the verdict
	Assumed  []string       `json:"assumed"`

	plan plan.Plan
}

// judgedAnswer is the verdict of one analysis.
type judgedAnswer struct {
	Name    string `json:"name"` // as in a plan, like "correlation (E2)"
	Usable  bool   `json:"usable"`
	Verdict string `json:"verdict"`

	Outcome plan.Outcome `json:"outcome"` // the verdict as a code
}

// NewVerdict returns the short form of a plan.
func NewVerdict(p plan.Plan) Verdict {
	out := Verdict{Useless: true, Analyses: []judgedAnswer{}, Parties: p.Parties, Assumed: p.Assumptions}
	for _, s := range p.Sketches {
		for _, a := range s.Analyses {
			out.Analyses = append(out.Analyses, judgedAnswer{a.Name(), a.Chosen.Usable, a.Verdict, a.Outcome})
			if a.Chosen.Usable || !a.Outcome.Forecast() {
				out.Useless = false
			}
		}
	}
	out.Usable, _ = p.Usable()
	out.Useless = out.Useless && len(out.Analyses) > 0
	out.plan = p
	return out
}

// Tell prints the verdict for a person.
func (v Verdict) Tell(c *Console) {
	if c.Format != Text {
		return
	}
	blocks := []block.Block{block.Text{Text: v.plan.Headline()}, v.plan.Verdicts()}
	if len(v.Assumed) > 0 {
		blocks = append(blocks, block.Text{Text: "Assumed:"}, v.plan.Assumed())
	}
	present.Text(c.Stderr(), blocks)
}

// Err returns an error if nothing of the study is usable; plan ends with it, in status 1.
func (v Verdict) Err(s *study.Study) error {
	if !v.Useless {
		return nil
	}
	return fail.Failed.Of(fmt.Errorf("nothing that study %s (%s) asks is usable as it stands", s.Name, s.ID.Short()))
}

// Worth describes the answers in short sentences, usable ones first.
func (v Verdict) Worth() (out []string) {
	for _, usable := range []bool{true, false} {
		for _, a := range v.Analyses {
			if a.Usable == usable {
				out = append(out, a.Name+" – "+a.Verdict+".")
			}
		}
	}
	return out
}
