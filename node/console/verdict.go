package console

import (
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/study"
)

// Verdict is what a plan says of a study, in short.
type Verdict struct {
	Usable   int            `json:"usable"`  // analyses
	Useless  bool           `json:"useless"` // no analysis is usable, and each has a forecast
	Analyses []JudgedAnswer `json:"analyses"`
	Parties  []plan.Party   `json:"parties"` // with the record counts that the verdict is for
	Assumed  []string       `json:"assumed"`

	headline string
}

// JudgedAnswer is the verdict of one analysis.
type JudgedAnswer struct {
	Name    string `json:"name"` // as a plan has it, like "correlation (E2)"
	Usable  bool   `json:"usable"`
	Verdict string `json:"verdict"`
}

// NewVerdict is the short form of a plan.
func NewVerdict(p plan.Plan) Verdict {
	out := Verdict{Useless: true, Analyses: []JudgedAnswer{}, Parties: p.Parties, Assumed: p.Assumptions}
	for _, s := range p.Sketches {
		for _, a := range s.Analyses {
			out.Analyses = append(out.Analyses, JudgedAnswer{planned(a), a.Chosen.Usable, a.Verdict})
			if a.Chosen.Usable || a.Chosen.Method == "" { // of the latter nothing is known
				out.Useless = false
			}
		}
	}
	out.Usable, _ = p.Usable()
	out.Useless = out.Useless && len(out.Analyses) > 0
	out.headline = fmt.Sprintf("%s (study %.8s), planned for %s: %d of %d analyses are usable as the study stands.",
		p.Name, p.Study, forWhom(p), out.Usable, len(out.Analyses))
	return out
}

// write prints how many analyses are usable, and the verdict of each.
func (v Verdict) write(w io.Writer) {
	present.Paragraph(w, "", v.headline)
	for _, a := range v.Analyses {
		present.Paragraph(w, "  ", a.Name+": "+a.Verdict+".")
	}
}

// Tell says the verdict to a person.
func (v Verdict) Tell(c *Console) {
	if c.Format != Text {
		return
	}
	v.write(c.Talk())
	if len(v.Assumed) > 0 {
		fmt.Fprintln(c.Talk(), "  Assumed:")
		for _, text := range v.Assumed {
			present.Item(c.Talk(), "  ", text+".")
		}
	}
}

// Err reports a study of which nothing is usable: plan ends with it, in status 1.
func (v Verdict) Err(s *study.Study) error {
	if !v.Useless {
		return nil
	}
	return WithCode(Failed, fmt.Errorf("nothing that study %s (%s) asks is usable as it stands", s.Name, s.ID.Short()))
}
