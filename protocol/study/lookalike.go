package study

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// readable reports whether a character beyond ASCII is shown unchanged: the letters of European
// languages in Latin script, and a few signs of units. It excludes letters that are easily taken
// for ASCII (a dotless i, a long s, a kra) or for two letters. Other scripts and signs, combining
// marks and characters without width would need more knowledge than a reader has.
func readable(r rune) bool {
	switch {
	case strings.ContainsRune("×÷ĲĳıĸĿŀŉſ", r):
		return false
	case r >= 'À' && r <= 'ž', strings.ContainsRune("ȘșȚțẞ°²³µ§€", r):
		return true
	}
	return false
}

// show renders text of the file so that nothing in it can pass for something else: printable ASCII
// and readable characters unchanged, every other character as \u{hex}.
func show(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r >= ' ' && r <= '~', readable(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// quote returns show in quotation marks.
func quote(s string) string {
	return `"` + strings.ReplaceAll(show(s), `"`, `\"`) + `"`
}

// scripts lists the scripts whose letters can be mistaken for each other.
var scripts = []struct {
	name  string
	table *unicode.RangeTable
}{{"Latin", unicode.Latin}, {"Greek", unicode.Greek}, {"Cyrillic", unicode.Cyrillic}}

// mixedScripts names the scripts of a name that mixes several, or returns "".
func mixedScripts(name string) string {
	var found []string
	for _, script := range scripts {
		if strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(script.table, r) }) {
			found = append(found, script.name)
		}
	}
	if len(found) < 2 {
		return ""
	}
	return strings.Join(found, " and ")
}

// Letters that look like others in most fonts, and the letters they resemble. It is a short list of
// Cyrillic, Greek, Latin letters with strokes and ASCII, not all of Unicode's.
const (
	deceiving  = "асеіјорхуѕԁԛԝһкмтнАВЕІЈКМНОРСТУХЅαγινορυκΑΒΕΖΗΙΚΜΝΟΡΤΥΧÐĐđŁłØøĦħŦŧ01I|"
	passingFor = "aceijopxysdqwhkmthABElJKMHOPCTYXSayivopukABEZHlKMNOPTYXDDdLlOoHhTtolll"
)

// skeleton maps names that look alike to one text: without marks, with deceiving letters replaced,
// and in lower case.
func skeleton(name string) string {
	from, to := []rune(deceiving), []rune(passingFor)
	var b strings.Builder
	for _, r := range norm.NFKD.String(name) {
		if i := slices.Index(from, r); i >= 0 {
			r = to[i]
		}
		if !unicode.IsMark(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return strings.ReplaceAll(b.String(), "rn", "m")
}

// ConfusableNames lists the study's names that deserve a second look: those that mix scripts and those
// that look like another one.
func (s *Study) ConfusableNames() []string {
	var out []string
	seen := map[string]string{}
	look := func(what, name string) {
		if mixed := mixedScripts(name); mixed != "" {
			out = append(out, fmt.Sprintf("%s %s mixes %s letters.", what, quote(name), mixed))
		}
		key := what + "\x00" + skeleton(name)
		if other, ok := seen[key]; ok && other != name {
			out = append(out, fmt.Sprintf("%s %s looks like %s %s.", what, quote(name), what, quote(other)))
			return
		}
		seen[key] = name
	}
	look("study", s.Name)
	for _, p := range s.Parties {
		look("party", p.Name)
	}
	for _, c := range s.Columns {
		look("column", c.Name)
		for _, v := range c.Values {
			look("value of "+show(c.Name)+",", v)
		}
	}
	return out
}
