package study

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestWrapKeepsEveryCharacter wraps random words, some longer than a line, and
// undoes it.
func TestWrapKeepsEveryCharacter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zε]{0,30}|[a-z]{90,230}`), 1, 30).Draw(t, "words")
		text := strings.Join(words, " ")
		p := &page{}
		p.wrap("  - ", "    ", text)
		var joined strings.Builder
		for i, line := range strings.Split(strings.TrimSuffix(p.String(), "\n"), "\n") {
			if n := utf8.RuneCountInString(line); n > pageWidth {
				t.Fatalf("%d characters: %q", n, line)
			}
			body, ok := strings.CutPrefix(line, map[bool]string{true: "  - ", false: "    "}[i == 0])
			if !ok {
				t.Fatalf("line %d is not indented: %q", i, line)
			}
			joined.WriteString(body)
		}
		if got, want := joined.String(), strings.ReplaceAll(text, " ", ""); strings.ReplaceAll(got, " ", "") != want {
			t.Fatalf("wrapped to %q", p.String())
		}
	})
}

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
