package study

import (
	"strings"
	"testing"
)

func TestEditDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "", 3}, {"sparse", "sprase", 1}, {"ca", "abc", 3},
		{"kitten", "sitting", 3}, {"deadlin", "deadline", 1}, {strings.Repeat("a", 100), "a", maxName},
	} {
		if got := editDistance(test.a, test.b); got != test.want {
			t.Errorf("%q, %q: %d, want %d", test.a, test.b, got, test.want)
		}
		if got := editDistance(test.b, test.a); got != test.want {
			t.Errorf("%q, %q: not symmetric: %d", test.b, test.a, got)
		}
	}
}

func TestNearestKeepsItsDistance(t *testing.T) {
	for _, test := range []struct{ word, want string }{
		{"epsilom", "epsilon"}, {"delt", "delta"}, {"x", ""}, {"unti", "unit"}, {"zzzzzzz", ""},
	} {
		if got := nearest(test.word, []string{"unit", "mechanism", "epsilon", "delta"}); got != test.want {
			t.Errorf("%q: %q, want %q", test.word, got, test.want)
		}
	}
}

// TestDeceivingLettersPair: the two strings are one table, entry by entry.
func TestDeceivingLettersPair(t *testing.T) {
	from, to := []rune(deceiving), []rune(passingFor)
	if len(from) != len(to) {
		t.Fatalf("%d deceiving letters pass for %d", len(from), len(to))
	}
	seen := map[rune]bool{}
	for i, r := range from {
		if seen[r] {
			t.Errorf("%q is listed twice", r)
		}
		seen[r] = true
		if to[i] > '~' {
			t.Errorf("%q passes for %q, which is not ASCII", r, to[i])
		}
	}
}
