package show

import (
	"cmp"
	"fmt"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
)

// opening returns one line for each answer: what most readers came for. Headings are those of the
// answers, in order.
func opening(r analysis.Result, headings []block.Heading) block.List {
	var out block.List
	for i, a := range r.Analyses {
		name := capital(headings[i].Text)
		says := headings[i].Says
		if of := headings[i].Of; of != "" {
			name += " of " + of
		}
		switch found := evidence(a); {
		case a.Undefined != "":
			says = "no answer: " + a.Undefined
		case found != "":
			says = found
		}
		says = cmp.Or(says, "answered")
		if a.Warned() != "" && a.Undefined == "" {
			says += "; read its caution first"
		}
		out.Items = append(out.Items, name+": "+says)
	}
	return out
}

// evidence says what stands out of all pairs together; empty if there are no pairs, or if their
// standing out is no finding.
func evidence(a analysis.Analysis) string {
	e, ok := a.Evidence()
	if !ok || kindOf(a.Kind).sizes {
		return ""
	}
	if len(e.Pairs) == 0 {
		switch {
		case e.Of == 1:
			return "the one pair does not stand out of the noise"
		case e.Alone > 0:
			return fmt.Sprintf("of %d pairs nothing stands out, all together at 95 %%; each by itself, %d would", e.Of, e.Alone)
		}
		return fmt.Sprintf("nothing stands out of the noise, of %d pairs", e.Of)
	}
	clearest := e.Pairs[0]
	n := numberOf(a, clearest)
	number, between := n.Parts()
	name := a.Features[clearest.I].Name()
	if clearest.I != clearest.J {
		name += " and " + a.Features[clearest.J].Name()
	}
	if e.Of == 1 {
		return fmt.Sprintf("the one pair stands out at 95 %%: %s, %s %s", name, number, between)
	}
	count := fmt.Sprint(len(e.Pairs))
	if e.Least {
		count = "at least " + count
	}
	verb := "stand"
	if len(e.Pairs) == 1 {
		verb = "stands"
	}
	return fmt.Sprintf("%s of %d pairs %s out, all together at 95 %%; the clearest: %s, %s %s", count, e.Of, verb, name, number, between)
}
