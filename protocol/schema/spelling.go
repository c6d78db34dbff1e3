package schema

import (
	"strings"
	"unicode/utf8"
)

// maxSpelt is more than the length, in bytes, of any misspelt word.
const maxSpelt = 256

// Closest returns the candidate nearest to word, ignoring case, or "" if none is near: at most one
// edit in three letters. An edit inserts, deletes or replaces a letter or swaps two neighbours. The
// first of equally near candidates wins.
func Closest(word string, candidates []string) string {
	if len(word) > maxSpelt {
		return ""
	}
	best, distance := "", max(1, utf8.RuneCountInString(word)/3)+1
	for _, c := range candidates {
		if d := edits([]rune(strings.ToLower(word)), []rune(strings.ToLower(c))); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// edits returns the optimal string alignment distance, computed row by row.
func edits(a, b []rune) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := above[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, above[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
