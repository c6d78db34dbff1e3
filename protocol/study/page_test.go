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
