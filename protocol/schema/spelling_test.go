package schema

import (
	"strings"
	"testing"
)

func TestClosest(t *testing.T) {
	names := []string{"patient", "income", "age", "Größe"}
	for word, want := range map[string]string{
		"income":   "income",
		"icnome":   "income", // one swap
		"INCOME":   "income",
		"incoming": "",       // three edits in eight letters
		"incomeee": "income", // two edits in eight letters
		"patents":  "patient",
		"grösse":   "Größe",
		"ages":     "age",
		"weight":   "",
		"xyz":      "",
		"":         "",
	} {
		if got := Closest(word, names); got != want {
			t.Errorf("Closest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Closest(strings.Repeat("a", 1<<20), []string{strings.Repeat("a", 1<<20)}); got != "" {
		t.Errorf("a megabyte is compared: %.20q", got)
	}
	if got := Closest("ab", nil); got != "" {
		t.Errorf("no candidates: %q", got)
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"sparse", "sprase", 1}, {"deadlin", "deadline", 1}, {"kitten", "sitting", 3}, {"abcd", "acbd", 1}, {"ca", "abc", 3},
	} {
		if got := edits([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("edits(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
