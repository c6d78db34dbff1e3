// Package plain makes text that others wrote harmless to whoever reads it: a terminal acts on
// control characters, a reader is deceived by characters that reorder or hide others, and a
// spreadsheet computes what begins like a formula.
package plain

import (
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark stands for each character that is not shown.
const Mark = '·'

// shown reports a character that is seen where it stands, and does nothing else.
func shown(r rune) bool { return r != utf8.RuneError && unicode.IsPrint(r) }

// Line is text in one line, without characters that a terminal acts on.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if shown(r) {
			return r
		}
		return Mark
	}, s)
}

// number is text that a spreadsheet takes for a number, which computes nothing.
var number = regexp.MustCompile(`^[-+]?(Inf|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?)$`)

// formula is where a formula begins: at the start of a cell, or of what is a cell where
// semicolons separate them. Some programs skip spaces and quotes, and some know the wide forms.
var formula = regexp.MustCompile("(^|;)([\\s\"']*[=+\\-@\uFF1D\uFF0B\uFF0D\uFF20])")

// Cell is text for a cell of a spreadsheet: characters that are not shown are written as
// \u202e, and an apostrophe keeps what begins like a formula from being one. Numbers stay.
func Cell(s string) string {
	if number.MatchString(s) {
		return s
	}
	return formula.ReplaceAllString(string(escape(nil, []byte(s), nothing)), "$1'$2")
}

// The characters beside those that are shown which a form lets through.
const (
	nothing = ""
	laidOut = "\n\t"
)

// escape appends text to out, with \u202e in the place of what is not shown and not kept.
func escape(out, text []byte, kept string) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case shown(r) || strings.ContainsRune(kept, r) && size == 1:
			out = append(out, text[:size]...)
		case r > 0xffff: // as JSON has it: in two halves
			r -= 0x10000
			out = hexadecimal(hexadecimal(out, 0xd800+r>>10), 0xdc00+r&0x3ff)
		default:
			out = hexadecimal(out, r)
		}
		text = text[size:]
	}
	return out
}

func hexadecimal(out []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(out, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// mark appends text to out, with Mark in the place of what is not shown and does not lay text
// out.
func mark(out, text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if !shown(r) && !strings.ContainsRune(laidOut, r) {
			r = Mark
		}
		out, text = utf8.AppendRune(out, r), text[size:]
	}
	return out
}

// Writer passes on what a terminal can be given. Close passes on what is left.
type Writer struct {
	to     io.Writer
	form   func(out, text []byte) []byte
	begun  []byte // a character whose bytes have not all come
	buffer []byte
}

// Text returns a writer of text for people: whatever is not shown becomes Mark, but for the
// ends of lines and tabs.
func Text(to io.Writer) *Writer { return &Writer{to: to, form: mark} }

// JSON returns a writer of JSON that says the same: whatever is not shown is escaped, which
// can stand in strings alone.
func JSON(to io.Writer) *Writer {
	return &Writer{to: to, form: func(out, text []byte) []byte { return escape(out, text, "\n\t\r") }}
}

// Write takes all of p, of which the last character may lack bytes that are still to come.
func (w *Writer) Write(p []byte) (int, error) {
	w.begun = append(w.begun, p...)
	whole := len(w.begun)
	for back := 1; back < utf8.UTFMax && back <= len(w.begun); back++ {
		if at := len(w.begun) - back; utf8.RuneStart(w.begun[at]) {
			if !utf8.FullRune(w.begun[at:]) {
				whole = at
			}
			break
		}
	}
	w.buffer = w.form(w.buffer[:0], w.begun[:whole])
	w.begun = append(w.begun[:0], w.begun[whole:]...)
	if _, err := w.to.Write(w.buffer); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close passes on the beginning of a character that stays without its end. It does not close
// what is written to.
func (w *Writer) Close() error {
	if len(w.begun) == 0 {
		return nil
	}
	rest := w.begun
	w.begun = nil
	_, err := w.to.Write(w.form(nil, rest))
	return err
}
