package file

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/cosketch/cosketch/protocol/schema"
)

// MaxSource is the largest study file that is read, in bytes.
const MaxSource = 1 << 20

// checkSource applies the text rules to a whole file before any parser sees it.
func checkSource(source []byte) *schema.Error {
	switch {
	case len(source) > MaxSource:
		return &schema.Error{Line: 1, Column: 1, Message: fmt.Sprintf("the file has %d bytes, at most %d are read", len(source), MaxSource)}
	case !utf8.Valid(source):
		return sourceError(source, invalidAt(source), "not valid UTF-8", "save the file as UTF-8")
	}
	for at, r := range string(source) {
		if r == '\n' {
			continue
		}
		if why := schema.Forbidden(r); why != "" {
			return sourceError(source, at, fmt.Sprintf("%s U+%04X is not allowed in a study file", why, r), hintFor(r))
		}
	}
	if !norm.NFC.IsNormal(source) {
		at := firstNonNFC(source)
		return sourceError(source, at, "text is not in Unicode normal form NFC", "two spellings of one letter would be two studies; retype it, or convert the file to NFC")
	}
	for i, line := range bytes.Split(source, []byte("\n")) {
		if bytes.HasPrefix(line, []byte("%")) {
			return &schema.Error{Line: i + 1, Column: 1, Message: "a line begins with %: YAML directives are not used in study files", Hint: "remove the line"}
		}
	}
	return nil
}

func hintFor(r rune) string {
	switch r {
	case '\t':
		return "use spaces instead of tabs"
	case '\r':
		return "save the file with LF line ends"
	case '\uFEFF':
		return "save the file as UTF-8 without byte order mark"
	}
	return "remove it"
}

func invalidAt(source []byte) int {
	for at := 0; at < len(source); {
		r, size := utf8.DecodeRune(source[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return len(source)
}

// firstNonNFC returns an offset at or shortly before the first character that normalisation would
// change.
func firstNonNFC(source []byte) int {
	normal := norm.NFC.Bytes(source)
	at := 0
	for at < len(source) && at < len(normal) && source[at] == normal[at] {
		at++
	}
	for at > 0 && at < len(source) && !utf8.RuneStart(source[at]) {
		at--
	}
	return at
}

func sourceError(source []byte, at int, message, hint string) *schema.Error {
	before := source[:at]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return &schema.Error{Line: line, Column: column, Message: message, Hint: hint}
}

// maxName is the longest name of a study, party or column, in characters.
const maxName = 64

// maxProse is the longest text for people, in characters.
const maxProse = 1000

// checkProse says why a text for people cannot be printed, or returns "". All printable letters and
// signs are allowed.
func checkProse(s string) string {
	switch {
	case s == "":
		return "is empty"
	case utf8.RuneCountInString(s) > maxProse:
		return fmt.Sprintf("has %d characters, at most %d", utf8.RuneCountInString(s), maxProse)
	case strings.TrimSpace(s) != s:
		return fmt.Sprintf("%q begins or ends with a space", s)
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return fmt.Sprintf("has the character %U, which cannot be printed", r)
		}
	}
	return ""
}

// checkName says what is wrong with a name of a study, party or column, or returns "". Names are
// letters with their marks, digits, and single _ - . and spaces inside.
func checkName(s string) string {
	switch {
	case s == "":
		return "is empty"
	case utf8.RuneCountInString(s) > maxName:
		return fmt.Sprintf("has %d characters, at most %d", utf8.RuneCountInString(s), maxName)
	case strings.HasPrefix(s, " "), strings.HasSuffix(s, " "), strings.Contains(s, "  "):
		return fmt.Sprintf("%q begins or ends with a space or has two in a row", s)
	}
	for i, r := range s {
		switch {
		case unicode.IsLetter(r), r >= '0' && r <= '9', r == '_':
		case i > 0 && (unicode.IsMark(r) || r == '-' || r == '.' || r == ' '):
		default:
			return fmt.Sprintf("%q has the character %q where letters, digits, _ - . and single spaces are allowed", s, r)
		}
	}
	return ""
}

// checkValue says what is wrong with free text (a column's source, a categorical value, a column of
// a party's file), or returns "".
func checkValue(s string, most int) string {
	switch {
	case s == "":
		return "is empty"
	case utf8.RuneCountInString(s) > most:
		return fmt.Sprintf("has %d characters, at most %d", utf8.RuneCountInString(s), most)
	}
	return ""
}
