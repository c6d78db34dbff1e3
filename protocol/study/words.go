package study

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/kernel/projection"
)

// vocabulary is a closed list of words for one key: those that this version acts
// on, and those of the format that it knows of but does not have.
type vocabulary struct {
	what    string // "family", "analysis"
	has     []string
	planned []string
}

var (
	partitions   = vocabulary{what: "partition", has: []string{"vertical", "horizontal"}}
	columnKinds  = vocabulary{what: "column kind", has: []string{"numeric", "binary", "categorical"}}
	transforms   = vocabulary{what: "transform", has: []string{"log", "asinh"}}
	roles        = vocabulary{what: "role", has: []string{"feature", "label"}}
	sides        = vocabulary{what: "side", has: sideNames()}
	labelWords   = vocabulary{what: "way of labels", has: []string{"plain", "randomised"}}
	families     = vocabulary{what: "family", has: familyNames()}
	matrices     = vocabulary{what: "matrix", has: []string{"secret", "public"}}
	units        = vocabulary{what: "unit", has: []string{"attribute", "record"}}
	mechanisms   = vocabulary{what: "mechanism", has: []string{"laplace", "gaussian", "randomised-response", "none"}}
	neighbours   = vocabulary{what: "kind of neighbours", has: []string{"zeroed", "replaced"}}
	sums         = vocabulary{what: "sum", has: []string{"plain", "masked"}}
	normalizings = vocabulary{what: "normalization", has: []string{"nfc", "trim", "casefold", "digits"}, planned: []string{"pad"}}
	duplicates   = vocabulary{what: "rule for duplicates", has: []string{"refuse"}, planned: []string{"sum"}}
	missings     = vocabulary{what: "rule for missing values", has: []string{"refuse", "count", "centre", "skip"}}
	joins        = vocabulary{what: "rule for joining records", has: []string{"all", "any"}}
	estimators   = vocabulary{what: "estimator", has: []string{"E1", "E2"}}
	intervals    = vocabulary{what: "intervals", has: []string{"each", "all"}}
	scores       = vocabulary{what: "score", has: []string{"lof", "distance"}}
	distancesTo  = vocabulary{what: "end of distances", has: []string{"records", "parties"}}
)

func familyNames() []string {
	var names []string
	for _, f := range projection.Families() {
		names = append(names, string(f.Family))
	}
	return names
}

// check returns nil for a word that this version has, and otherwise an error
// without a position that tells an unsupported word from an unknown one.
func (v vocabulary) check(word string) *Error {
	for _, w := range v.has {
		if w == word {
			return nil
		}
	}
	for _, w := range v.planned {
		if w == word {
			return &Error{Message: fmt.Sprintf("%s %q is not supported by this version; it has: %s", v.what, word, strings.Join(v.has, ", "))}
		}
	}
	e := &Error{Message: fmt.Sprintf("unknown %s %q", v.what, word)}
	if near := nearest(word, append(v.has[:len(v.has):len(v.has)], v.planned...)); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	} else {
		e.Hint = "one of: " + strings.Join(v.has, ", ")
	}
	return e
}

// nearest returns the candidate within a third of its length, and at most three
// edits, of the word; "" when there is none.
func nearest(word string, candidates []string) string {
	best, bestDistance := "", 4
	for _, c := range candidates {
		if d := editDistance(word, c); d < bestDistance && 3*d <= max(len(c), 3) {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, substitutions and swaps of
// neighbours between two words; words longer than any key count as far away.
func editDistance(a, b string) int {
	if len(a) > maxName || len(b) > maxName {
		return maxName
	}
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(last[j]+1, next[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
