package study

import "testing"

// TestDeceivingLettersPair: the two strings form one table, entry by entry.
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
