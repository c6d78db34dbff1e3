package block

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
		const width = 100
		wrapped := Wrap("  - ", "    ", text, width)
		var joined strings.Builder
		for i, line := range strings.Split(strings.TrimSuffix(wrapped, "\n"), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Fatalf("%d characters: %q", n, line)
			}
			body, ok := strings.CutPrefix(line, map[bool]string{true: "  - ", false: "    "}[i == 0])
			if !ok {
				t.Fatalf("line %d is not indented: %q", i, line)
			}
			joined.WriteString(body)
		}
		if got, want := joined.String(), strings.ReplaceAll(text, " ", ""); strings.ReplaceAll(got, " ", "") != want {
			t.Fatalf("wrapped to %q", wrapped)
		}
	})
}
