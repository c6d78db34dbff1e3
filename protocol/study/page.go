package study

import (
	"strings"
	"unicode/utf8"
)

// pageWidth is the longest line of an explanation, in characters.
const pageWidth = 100

// page collects wrapped text.
type page struct{ b strings.Builder }

func (p *page) String() string { return p.b.String() }

func (p *page) line(s string) { p.wrap("", "", s) }

func (p *page) heading(s string) {
	p.b.WriteByte('\n')
	p.line(s)
}

func (p *page) text(s string) { p.wrap("  ", "  ", s) }

func (p *page) items(rows []string) {
	for _, row := range rows {
		p.wrap("  - ", "    ", row)
	}
}

// wrap breaks s at single spaces, and inside a word only where it alone is longer
// than a line. Runs of spaces inside quoted text stay as they are.
func (p *page) wrap(first, rest, s string) {
	indent, room, empty := first, pageWidth-len(first), true
	p.b.WriteString(indent)
	for word := range strings.SplitSeq(s, " ") {
		n := utf8.RuneCountInString(word)
		if !empty && n+1 > room {
			p.b.WriteString("\n" + rest)
			room, empty = pageWidth-len(rest), true
		}
		if !empty {
			p.b.WriteByte(' ')
			room--
		}
		for n > room {
			cut := runes(word, room)
			p.b.WriteString(word[:cut] + "\n" + rest)
			word, n, room = word[cut:], n-room, pageWidth-len(rest)
		}
		p.b.WriteString(word)
		room, empty = room-n, false
	}
	p.b.WriteByte('\n')
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
