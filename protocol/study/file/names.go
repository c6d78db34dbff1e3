package file

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// ColumnNames makes names of columns, as studies have them, of the headers of a party's data: one for each, in their order.
// A header that is such a name stays; of others, what a name cannot hold becomes one _ between the rest. The same headers
// always make the same names, and no name is another header, or made twice.
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

// madeOf makes a name of a header that is none.
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

// shortened is the beginning of a text, in characters.
func shortened(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most])
	}
	return s
}
