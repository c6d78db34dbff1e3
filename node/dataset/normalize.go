package dataset

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/cosketch/cosketch/protocol/study"
)

// normalize applies each step once, in the listed order. Case folding, for example, can leave text
// that is not NFC, so a study that wants both lists nfc again after casefold. It reports false for
// text that is not valid UTF-8.
//
// Parties must agree on every byte of the result. NFC and case folding are stable for every
// assigned Unicode character; a character newer than the Unicode tables of a party's build stays as
// it is.
func normalize(id string, steps []study.Normalization, fold cases.Caser) (string, bool) {
	if !utf8.ValidString(id) {
		return "", false
	}
	for _, step := range steps {
		switch step {
		case study.NormalizeNFC:
			id = norm.NFC.String(id)
		case study.NormalizeTrim:
			id = strings.TrimSpace(id)
		case study.NormalizeCasefold:
			id = caseFold(id, fold)
		case study.NormalizeDigits:
			id = strings.Map(asciiDigit, id)
		}
	}
	return id, true
}

// appendNormalized appends the normalised id to dst. ASCII ids, the usual case, are normalised
// without allocations.
func appendNormalized(dst, id []byte, steps []study.Normalization, fold cases.Caser) ([]byte, bool) {
	if !isASCII(id) {
		normal, ok := normalize(string(id), steps, fold)
		return append(dst, normal...), ok
	}
	start := len(dst)
	dst = append(dst, id...)
	for _, step := range steps {
		part := dst[start:]
		switch step {
		case study.NormalizeNFC: // ASCII is NFC
		case study.NormalizeTrim:
			dst = append(dst[:start], bytes.TrimSpace(part)...)
		case study.NormalizeCasefold:
			for i, b := range part {
				if 'A' <= b && b <= 'Z' {
					part[i] = b + 'a' - 'A'
				}
			}
		case study.NormalizeDigits:
			kept := dst[:start]
			for _, b := range part {
				if '0' <= b && b <= '9' {
					kept = append(kept, b)
				}
			}
			dst = kept
		}
	}
	return dst, true
}

// caseFold is Unicode full case folding. For ASCII it uses ToLower, which does not allocate if
// nothing changes.
func caseFold(s string, fold cases.Caser) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return fold.String(s)
		}
	}
	return strings.ToLower(s)
}

func asciiDigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return r
	}
	return -1
}
