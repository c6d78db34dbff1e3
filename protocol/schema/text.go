package schema

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// CheckText applies the rules for characters to a string from the YAML parser, because an escape
// such as "\u202e" adds characters that the bytes of the file do not show.
func CheckText(s string) string {
	for _, r := range s {
		if why := Forbidden(r); why != "" {
			return fmt.Sprintf("%s U+%04X is not allowed in a value", why, r)
		}
	}
	if !utf8.ValidString(s) {
		return "not valid UTF-8"
	}
	if !norm.NFC.IsNormalString(s) {
		return "text is not in Unicode normal form NFC"
	}
	return ""
}

// Forbidden names the class of a character that may not appear, or returns "".
// Line separators other than LF start a live line inside what looks like a
// comment; format characters reorder or hide what follows them.
func Forbidden(r rune) string {
	switch {
	case r == '\uFEFF':
		return "byte order mark"
	case r == '\u0085', r == '\u2028', r == '\u2029':
		return "line separator"
	case unicode.Is(unicode.Cc, r):
		return "control character"
	case unicode.Is(unicode.Cf, r):
		return "format character"
	case r == utf8.RuneError:
		return "replacement character"
	}
	return ""
}
