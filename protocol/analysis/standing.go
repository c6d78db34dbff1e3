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

// The methods below read documents that were not validated: a number may lack an end, and a pair
// may have an index out of range.

// ExcludesZero reports whether the number clearly differs from 0.
func (n Number) ExcludesZero() bool { return n.Shown().ExcludesZero() }

func (n Number) whole() bool { return n.Estimate != nil && n.Low != nil && n.High != nil }

// clearness returns how clearly an interval excludes 0: the distance of its nearer end from 0, in
// widths of the interval. It is negative, and at least -0.5, if 0 is inside.
func clearness(low, high float64) float64 {
	return min(max(low, -high)/max(high-low, math.SmallestNonzeroFloat64), math.MaxFloat64)
}

// Clearest returns the pairs of the analysis sorted: first those that clearly differ from 0, then
// the others, each by the distance of 0 from the nearer end of the widest interval, in widths of
// it. Then come those without an answer, and last the undefined ones.
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

// Unanswered reports whether a number of the analysis's pairs says nothing, because its interval
// covers every possible value.
func (a Analysis) Unanswered(n Number) bool {
	return (a.Kind == study.Correlation || a.Kind == study.Cosine) && n.whole() && *n.Low <= -1 && *n.High >= 1
}

// Across returns the pairs that a study is made for: of different parties' features, or of any two
// different features if they belong to the union.
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

// party returns the party of a feature; empty if it belongs to the union or the index is out of
// range.
func (a Analysis) party(at int) string {
	if at < 0 || at >= len(a.Features) {
		return ""
	}
	return a.Features[at].Party
}

// compared returns the pairs among which something may stand out, and a phrase that says which they
// are.
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

// Differing says how many pairs clearly differ from 0; which describes them and begins with a
// space, or is empty.
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

// SignificantPairs says in a phrase how many pairs clearly differ from 0.
func (a Analysis) SignificantPairs() string {
	pairs, of := a.compared()
	clear, unanswered, undefined := 0, 0, 0
	for _, p := range pairs {
		switch {
		case p.ExcludesZero():
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

// Nothing says that nothing in an analysis stands out of the noise. It is empty if something does,
// if there is no answer, and for questions such as a mean, whose answer is as good as its interval
// is narrow.
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
		told := func(p Pair) bool { return p.ExcludesZero() }
		if pairs, of := a.compared(); !slices.ContainsFunc(pairs, told) && !slices.ContainsFunc(a.Shifts, told) {
			lead, what = nothingHere, Differing(0, int64(len(pairs)), of)
			if slices.ContainsFunc(a.Pairs, func(p Pair) bool { return p.I != p.J && p.ExcludesZero() }) {
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

// separated reports whether the component's loadings are known. If it has no loadings, it reports
// whether its eigenvalue is.
func (c Component) separated() bool {
	if len(c.LoadingIntervals) == 0 {
		return c.Interval.Estimate != nil
	}
	return c.LoadingIntervals[0].Estimate != nil
}

// Nothing returns the first line of a result in which no analysis stands out of the noise;
// otherwise it is empty.
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

// Promises returns what all sketches promise together, if there are several, and then the distinct
// statements of the sketches. If these differ, each says which sketches it is about.
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

// word sets the assumptions in words, and drops the codes if they are the usual ones.
func (a *Analysis) word() {
	a.Assumption = a.Assumptions.String()
	if slices.Equal(a.Assumptions, premise.Usual(a.Kind, a.Estimator)) {
		a.Assumptions = nil
	}
}

// Assumes says in a sentence what the numbers assume; empty if nothing is stated.
func (a Analysis) Assumes() string {
	who := "It"
	if a.Estimator != "" {
		who = "Estimator " + string(a.Estimator)
	}
	rests := a.Assumptions
	if usual := premise.Usual(a.Kind, a.Estimator); len(rests) == 0 && usual.String() == a.Assumption {
		rests = usual
	}
	switch {
	case a.Assumption == "":
		return ""
	case len(rests) > 0 && rests.Known():
		return rests.Sentence(who)
	}
	return who + " assumes: " + a.Assumption + "." // of a document from before codes existed, or of a later version
}

// Warned returns the caution as a sentence; empty if there is none.
func (a Analysis) Warned() string {
	if a.Caution == "" {
		return ""
	}
	first := []rune(a.Caution)
	return strings.ToUpper(string(first[0])) + string(first[1:]) + "."
}
