package joining

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// Wanted is a column that a study asks for.
type Wanted struct {
	Name string
	Kind study.ColumnKind
}

// Held is a column of the data.
type Held struct {
	Name string
	Kind dataset.Kind
	Made string // the name that an introduction gives it; may be empty
}

// Match is the column of the data proposed for one of the study's.
type Match struct {
	Header string // empty: none
	Why    Why
}

// Why is the reason for a match.
type Why string

// The reasons, best first.
const (
	Said       Why = "you said so"
	Remembered Why = "as in an earlier study"
	Same       Why = "the same name"
	Made       Why = "the name was made of it"
	Alike      Why = "the same name, spelled otherwise"
	Part       Why = "the name is part of it"
	Near       Why = "nearly the same name"
	OnlyOne    Why = "the only column left of this kind"
	None       Why = "no column seems to be it"
)

// Proposal proposes a column of the data for each of the study's, in their order. No column is
// proposed twice. earlier holds the names of these columns in earlier studies. If several columns
// are equally good, none is proposed.
func Proposal(wanted []Wanted, held []Held, earlier map[string]string) []Match {
	p := proposal{wanted: wanted, held: held, taken: map[string]bool{}, out: make([]Match, len(wanted))}
	p.each(Remembered, func(w Wanted, h Held) bool { return earlier[w.Name] == h.Name })
	p.each(Same, func(w Wanted, h Held) bool { return w.Name == h.Name })
	p.each(Made, func(w Wanted, h Held) bool { return w.Name == h.Made })
	p.each(Alike, func(w Wanted, h Held) bool { return fold(w.Name) != "" && fold(w.Name) == fold(h.Name) })
	p.each(Part, func(w Wanted, h Held) bool { return within(fold(w.Name), fold(h.Name)) })
	p.each(Near, func(w Wanted, h Held) bool {
		return schema.Closest(fold(w.Name), []string{fold(h.Name)}) != "" && len(fold(w.Name)) > 3
	})
	p.each(OnlyOne, func(w Wanted, h Held) bool { return h.Kind.Serves(w.Kind) })
	for i := range p.out {
		if p.out[i].Header == "" {
			p.out[i].Why = None
		}
	}
	return p.out
}

type proposal struct {
	wanted []Wanted
	held   []Held
	taken  map[string]bool
	out    []Match
}

// each matches the columns that have only one candidate, which in turn is a candidate for no other.
func (p *proposal) each(why Why, fits func(Wanted, Held) bool) {
	candidates := make([][]string, len(p.wanted))
	times := map[string]int{}
	for i, w := range p.wanted {
		if p.out[i].Header != "" {
			continue
		}
		for _, h := range p.held {
			if h.Name != "" && !p.taken[h.Name] && !slices.Contains(candidates[i], h.Name) && fits(w, h) {
				candidates[i] = append(candidates[i], h.Name)
				times[h.Name]++
			}
		}
	}
	for i, names := range candidates {
		if len(names) == 1 && times[names[0]] == 1 {
			p.out[i] = Match{names[0], why}
			p.taken[names[0]] = true
		}
	}
}

// fold reduces a name to its letters and digits, without case, accents and text in brackets, such
// as a unit.
func fold(name string) string {
	var out strings.Builder
	depth := 0
	for _, r := range norm.NFD.String(strings.ToLower(name)) {
		switch {
		case r == '(' || r == '[':
			depth++
		case r == ')' || r == ']':
			depth--
		case depth > 0:
		case r == 'ß':
			out.WriteString("ss")
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			out.WriteRune(r)
		}
	}
	return strings.NewReplacer("ae", "a", "oe", "o", "ue", "u").Replace(out.String())
}

// within reports whether one of two names begins or ends with the other, which must have at least 3
// bytes.
func within(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= 3 && (b[:len(a)] == a || b[len(b)-len(a):] == a)
}
