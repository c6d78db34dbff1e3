package file

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// ColumnNames returns a column name, valid in studies, for each header of a party's data, in order.
// A header that is a valid name stays. In others, each run of invalid characters becomes one _
// between the rest. The same headers always give the same names, and no new name equals another
// header or another new name.
func ColumnNames(headers []string) []string {
	out := make([]string, len(headers))
	taken := map[string]bool{}
	for i, h := range headers {
		if checkName(h) == "" {
			out[i], taken[h] = h, true
		}
	}
	for i, h := range headers {
		if out[i] != "" {
			continue
		}
		if at := slices.Index(headers[:i], h); at >= 0 {
			out[i] = out[at]
			continue
		}
		base := madeOf(h)
		name := base
		for n := 2; taken[name]; n++ {
			end := fmt.Sprintf("_%d", n)
			name = shortened(base, maxName-len(end)) + end
		}
		out[i], taken[name] = name, true
	}
	return out
}

// madeOf makes a name of a header that is not a valid name.
func madeOf(header string) string {
	var out strings.Builder
	gap := false
	for _, r := range header {
		mark := unicode.IsMark(r) && out.Len() > 0 && !gap
		if !mark && !unicode.IsLetter(r) && (r < '0' || r > '9') {
			gap = true
			continue
		}
		if gap && out.Len() > 0 {
			out.WriteByte('_')
		}
		gap = false
		out.WriteRune(r)
	}
	if out.Len() == 0 {
		return "column"
	}
	return shortened(out.String(), maxName)
}

// shortened returns the beginning of a text, at most this many characters.
func shortened(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most])
	}
	return s
}
