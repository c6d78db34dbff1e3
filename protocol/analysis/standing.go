package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// Nobody has checked the documents that these read: a number may lack an end, and a pair may
// point nowhere.

// Told reports a number that can be told from 0.
func (n Number) Told() bool { return n.Shown().Told() }

func (n Number) whole() bool { return n.Estimate != nil && n.Low != nil && n.High != nil }

// clearness says how clearly an interval leaves 0 out: the distance of its nearer end, in
// widths of the interval. It is negative, and at least -0.5, where 0 is within.
func clearness(low, high float64) float64 {
	return min(max(low, -high)/max(high-low, math.SmallestNonzeroFloat64), math.MaxFloat64)
}

// Clearest returns pairs of the analysis in another order: those that can be told from 0
// first, then the others, each by how far 0 is from the nearer end of the widest interval, in
// widths of it; then those without an answer, and undefined ones last.
func (a Analysis) Clearest(pairs []Pair) []Pair {
	size := func(p Pair) float64 {
		switch {
		case !p.whole():
			return -1
		case a.Unanswered(p.Number):
			return -0.75
		}
		return clearness(p.Shown().Outer())
	}
	sorted := slices.Clone(pairs)
	slices.SortStableFunc(sorted, func(a, b Pair) int { return cmp.Compare(size(b), size(a)) })
	return sorted
}

// Unanswered reports a number of the analysis's pairs that says nothing, because its interval
// is all that a number of this kind can be.
func (a Analysis) Unanswered(n Number) bool {
	return (a.Kind == study.Correlation || a.Kind == study.Cosine) && n.whole() && *n.Low <= -1 && *n.High >= 1
}

// Across are the pairs that a study is made for: of different parties' features, or of
// different features where they belong to the union.
func (a Analysis) Across() []Pair {
	var out []Pair
	for _, p := range a.Pairs {
		if p.I == p.J {
			continue
		}
		if first, second := a.party(p.I), a.party(p.J); first == "" || first != second {
			out = append(out, p)
		}
	}
	return out
}

// party is whose a feature is; empty where that is the union, or nobody.
func (a Analysis) party(at int) string {
	if at < 0 || at >= len(a.Features) {
		return ""
	}
	return a.Features[at].Party
}

// compared returns the pairs among which something may stand out, and which these are.
func (a Analysis) compared() ([]Pair, string) {
	pairs := a.Across()
	switch {
	case len(pairs) == 0:
		return a.Pairs, ""
	case a.RecordDistances != nil || a.party(pairs[0].I) == "":
		return pairs, ""
	}
	return pairs, " across parties"
}

// Differing says how many pairs can be told from 0; which they are begins with a space, or is empty.
func Differing(clear, of int64, which string) string {
	switch {
	case of == 1 && clear == 1:
		return onePair(which) + " clearly differs from 0"
	case of == 1:
		return onePair(which) + " does not clearly differ from 0"
	}
	return fmt.Sprintf("%d of %d pairs%s clearly differ from 0", clear, of, which)
}

func onePair(which string) string { return "the one pair" + which }

// Standing counts the pairs that can be told from 0, in a phrase.
func (a Analysis) Standing() string {
	pairs, of := a.compared()
	clear, unanswered, undefined := 0, 0, 0
	for _, p := range pairs {
		switch {
		case p.Told():
			clear++
		case !p.whole():
			undefined++
		case a.Unanswered(p.Number):
			unanswered++
		}
	}
	switch {
	case len(pairs) == 1 && unanswered == 1:
		return onePair(of) + " has no answer"
	case len(pairs) == 1 && undefined == 1:
		return onePair(of) + " is undefined"
	}
	who := block.ForRecords
	if a.People() {
		who = block.ForPeople
	}
	text := Differing(int64(clear), int64(len(pairs)), of) + " " + who
	for _, rest := range []struct {
		n         int
		one, many string
	}{{unanswered, "1 has no answer", "%d have no answer"}, {undefined, "1 is undefined", "%d are undefined"}} {
		switch {
		case rest.n == 1:
			text += "; " + rest.one
		case rest.n > 1:
			text += "; " + fmt.Sprintf(rest.many, rest.n)
		}
	}
	return text
}

// Beginnings of a line that says that nothing was found.
const (
	nothingHere   = "Nothing here stands out of the noise"
	nothingAcross = "Nothing across parties stands out of the noise"
)

// Nothing says that nothing in an analysis stands out of the noise, and of what. It is empty
// where something does, where there is no answer, and of questions such as a mean, whose
// answer is as good as its interval is narrow.
func (a Analysis) Nothing() string {
	if lead, what := a.nothing(); lead != "" {
		return lead + ": " + what + "."
	}
	return ""
}

func (a Analysis) nothing() (lead, what string) {
	switch {
	case a.Undefined != "":
	case a.Dense != nil:
		if g := a.Dense.Gist; g.Compared > 0 && g.Clear == 0 {
			lead, what = nothingHere, Differing(0, g.Compared, " of different "+a.Compared())
			if newGist(a.Features).several {
				lead = nothingAcross
			}
		}
	case len(a.Pairs) > 0:
		told := func(p Pair) bool { return p.Told() }
		if pairs, of := a.compared(); !slices.ContainsFunc(pairs, told) && !slices.ContainsFunc(a.Shifts, told) {
			lead, what = nothingHere, Differing(0, int64(len(pairs)), of)
			if slices.ContainsFunc(a.Pairs, func(p Pair) bool { return p.I != p.J && p.Told() }) {
				lead = nothingAcross
			}
		}
	default:
		for _, s := range a.sections() {
			if finding, ok := s.(interface{ nothing() string }); ok {
				if what = finding.nothing(); what != "" {
					lead = nothingHere
				}
			}
		}
	}
	return lead, what
}

// separated reports a component whose loadings are known. Of a component without loadings,
// the eigenvalue is asked for alone.
func (c Component) separated() bool {
	if len(c.LoadingIntervals) == 0 {
		return c.Interval.Estimate != nil
	}
	return c.LoadingIntervals[0].Estimate != nil
}

// Nothing is the first line of a result none of whose analyses has anything that stands out of
// the noise; empty of any other.
func (r Result) Nothing() string {
	all, said := nothingHere, []string{}
	for _, a := range r.Analyses {
		lead, what := a.nothing()
		switch {
		case a.Undefined != "":
			what = "no answer"
		case lead == "":
			return ""
		case lead == nothingAcross:
			all = lead
		}
		said = append(said, string(a.Kind)+": "+what)
	}
	if len(said) == 0 {
		return ""
	}
	return all + ". " + strings.Join(said, "; ") + "."
}

// Promises are what all sketches promise together, where there are several, and the statements of the
// sketches, each once. Where they differ each says which sketches it is about.
func (r Result) Promises() (all []string) {
	var of [][]string
	for i, s := range r.Sketches {
		at := slices.Index(all, s.Statement)
		if at < 0 {
			at, all, of = len(all), append(all, s.Statement), append(of, nil)
		}
		of[at] = append(of[at], strconv.Itoa(i+1))
	}
	for i := range all {
		if len(all) > 1 {
			all[i] = "Sketch " + strings.Join(of[i], ", ") + ": " + all[i]
		}
	}
	if r.Promise != "" {
		all = slices.Insert(all, 0, r.Promise)
	}
	return all
}

// word says in words what the numbers rest on, and leaves out codes that readers know without them.
func (a *Analysis) word() {
	a.Assumption = a.Rests.String()
	if slices.Equal(a.Rests, premise.Usual(a.Kind, a.Estimator)) {
		a.Rests = nil
	}
}

// Assumes says in a sentence what the numbers rest on; empty where nothing was said.
func (a Analysis) Assumes() string {
	who := "It"
	if a.Estimator != "" {
		who = "Estimator " + string(a.Estimator)
	}
	rests := a.Rests
	if usual := premise.Usual(a.Kind, a.Estimator); len(rests) == 0 && usual.String() == a.Assumption {
		rests = usual
	}
	switch {
	case a.Assumption == "":
		return ""
	case len(rests) > 0 && rests.Known():
		return rests.Sentence(who)
	}
	return who + " assumes: " + a.Assumption + "." // of a document from before there were codes, or of a later version
}

// Warned says in a sentence what is to be read before the numbers; empty where that is nothing.
func (a Analysis) Warned() string {
	if a.Caution == "" {
		return ""
	}
	first := []rune(a.Caution)
	return strings.ToUpper(string(first[0])) + string(first[1:]) + "."
}
