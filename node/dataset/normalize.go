package dataset

import (
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
