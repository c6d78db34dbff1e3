// Package plain makes text written by others safe to show. A terminal acts on control characters;
// readers are deceived by characters that reorder or hide others; and a spreadsheet evaluates text
// that begins like a formula.
package plain

import (
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark replaces each character that is not shown.
const Mark = '·'

// shown reports whether a character is visible and has no other effect.
func shown(r rune) bool { return r != utf8.RuneError && unicode.IsPrint(r) }

// Line returns text in one line, without characters that a terminal acts on.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if shown(r) {
			return r
		}
		return Mark
	}, s)
}

// number matches text that a spreadsheet reads as a number; it is safe.
var number = regexp.MustCompile(`^[-+]?(Inf|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?)$`)

// formula matches the beginning of a formula: at the start of a cell, or after a semicolon, which
// some programs take as a separator. Some programs skip spaces and quotes, and some accept the
// full-width characters.
var formula = regexp.MustCompile("(^|;)([\\s\"']*[=+\\-@\uFF1D\uFF0B\uFF0D\uFF20])")

// Cell returns text for a cell of a spreadsheet. Characters that are not shown are written as
// \u202e, and an apostrophe is put before what begins like a formula. Numbers stay.
func Cell(s string) string {
	if number.MatchString(s) {
		return s
	}
	return formula.ReplaceAllString(string(escape(nil, []byte(s), nothing)), "$1'$2")
}

// The characters that a form lets through besides those that are shown.
const (
	nothing = ""
	laidOut = "\n\t"
)

// escape appends text to out, with \u202e for each character that is neither shown nor kept.
func escape(out, text []byte, kept string) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case shown(r) || strings.ContainsRune(kept, r) && size == 1:
			out = append(out, text[:size]...)
		case r > 0xffff: // as a surrogate pair, as in JSON
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

// mark appends text to out, with Mark for each character that is not shown, except newlines and
// tabs.
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

// Writer passes on text in a form that is safe for a terminal. Close passes on the rest.
type Writer struct {
	to     io.Writer
	form   func(out, text []byte) []byte
	begun  []byte // an incomplete character at the end
	buffer []byte
}

// Text returns a writer of text for people: Mark replaces every character that is not shown, except
// newlines and tabs.
func Text(to io.Writer) *Writer { return &Writer{to: to, form: mark} }

// JSON returns a writer of equivalent JSON: characters that are not shown are escaped. They can
// occur only in strings.
func JSON(to io.Writer) *Writer {
	return &Writer{to: to, form: func(out, text []byte) []byte { return escape(out, text, "\n\t\r") }}
}

// Write writes p. Its last character may be incomplete.
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

// Close writes the beginning of a character that was never completed. It does not close the
// underlying writer.
func (w *Writer) Close() error {
	if len(w.begun) == 0 {
		return nil
	}
	rest := w.begun
	w.begun = nil
	_, err := w.to.Write(w.form(nil, rest))
	return err
}
