package block

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text into lines of at most width characters, at single spaces. It breaks a word
// only if the word alone is longer than a line. The first line begins with first, the others with
// rest, which must have the same length. Runs of spaces inside quoted text are kept.
func Wrap(first, rest, text string, width int) string {
	var b strings.Builder
	indent, room, empty := first, width-len(first), true
	b.WriteString(indent)
	for word := range strings.SplitSeq(text, " ") {
		n := utf8.RuneCountInString(word)
		if !empty && n+1 > room {
			b.WriteString("\n" + rest)
			room, empty = width-len(rest), true
		}
		if !empty {
			b.WriteByte(' ')
			room--
		}
		for n > room {
			cut := runes(word, room)
			b.WriteString(word[:cut] + "\n" + rest)
			word, n, room = word[cut:], n-room, width-len(rest)
		}
		b.WriteString(word)
		room, empty = room-n, false
	}
	b.WriteByte('\n')
	return b.String()
}

// runes returns the length in bytes of the first n characters of s.
func runes(s string, n int) int {
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}
