package dataset

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/cosketch/cosketch/protocol/study"
)

// normalize applies the steps in their listed order and each once: casefold, for
// example, can leave text that is not NFC, so a study that wants both lists nfc
// after it as well. It reports false for text that is not valid UTF-8.
//
// Parties must agree to the byte on the result. NFC and case folding are stable
// for every character that Unicode has assigned; a character newer than the tables
// of a party's build would stay as it is.
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

// appendNormalized appends the normalised id to dst. Ids in ASCII, the most frequent
// ones, take a way without allocations.
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
		case study.NormalizeNFC: // ASCII is
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

// caseFold is Unicode full case folding. On ASCII it is ToLower, which does not
// allocate where nothing changes.
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
