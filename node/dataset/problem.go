package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/study"
)

// Reading says how a source's values are read, where that is given and not detected.
type Reading struct {
	CSV   Dialect
	Words Replacements
}

// With returns r overridden by other.
func (r Reading) With(other Reading) Reading {
	return Reading{r.CSV.With(other.CSV), r.Words.With(other.Words)}
}

// IsZero reports whether nothing is given.
func (r Reading) IsZero() bool { return r.CSV == (Dialect{}) && r.Words.IsZero() }

// Problem is one kind of mistake in one column of a source, or in its rows as a whole. It quotes
// nothing of a record except words that this package knows, such as NA, as the data spell them.
type Problem struct {
	Column string   // its name in the data; empty for rows as a whole
	Count  int64    // of values, or of rows
	What   string   // what they are: "97 words for a missing value (k.A.)"
	Where  []string // the first few of them: "line 3"
	Remedy Reading  // settings with which they can be read; zero if unknown
	Hint   string   // what else to do; may be empty
	Stops  bool     // the source cannot be read until this is fixed
}

// String returns the problem as one line.
func (p Problem) String() string {
	text := p.What
	if p.Column != "" {
		text = fmt.Sprintf("%q: %s", p.Column, p.What)
	}
	if len(p.Where) > 0 {
		text += ", " + strings.Join(p.Where, ", ")
		if p.Count > int64(len(p.Where)) {
			text += ", …"
		}
	}
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}

// Remedy returns the settings that fix as many of the problems as possible.
func Remedy(problems []Problem) (r Reading) {
	for _, p := range problems {
		r = r.With(p.Remedy)
	}
	return r
}

// places counts records and keeps the positions of the first few.
type places struct {
	n     int64
	first [3]position
}

func (p *places) add(at position) {
	if p.n < int64(len(p.first)) {
		p.first[p.n] = at
	}
	p.n++
}

func (p *places) problem(column, what string, where func(position) string) Problem {
	out := Problem{Column: column, Count: p.n, What: what}
	for _, at := range p.first[:min(p.n, int64(len(p.first)))] {
		out.Where = append(out.Where, where(at))
	}
	return out
}

// missingWords are words for a missing value, truths words for yes and no; all in lower case.
var (
	missingWords = []string{
		"na", "n/a", "n.a.", "nan", "#n/a", "#nv", "null", "none", "nil", "missing", "unknown", "-", "--", ".", "?",
		"k.a.", "k. a.", "k.a", "ka", "keine angabe", "unbekannt", "fehlt", "fehlend", "n.v.", "leer", "nc", "n.d.", "nd", "non disponible", "inconnu", "sin dato",
	}
	truths = map[string]string{
		"ja": "1", "nein": "0", "j": "1", "n": "0", "yes": "1", "no": "0", "y": "1", "true": "1", "false": "0", "t": "1", "f": "0",
		"wahr": "1", "falsch": "0", "oui": "1", "non": "0", "o": "1", "si": "1", "sí": "1", "s": "1", "sim": "1", "não": "0",
	}
)

// mostSpellings bounds the spellings of known words that a column's findings count separately.
const mostSpellings = 8

// spelled counts words by spelling.
type spelled map[string]*places

func (s *spelled) add(word []byte, at position) {
	if *s == nil {
		*s = spelled{}
	}
	one := (*s)[string(word)]
	if one == nil {
		if len(*s) == mostSpellings {
			return
		}
		one = new(places)
		(*s)[string(word)] = one
	}
	one.add(at)
}

func (s spelled) words() []string { return slices.Sorted(maps.Keys(s)) }

// all merges the places of all words.
func (s spelled) all() (out places) {
	var first []position
	for _, p := range s {
		out.n += p.n
		first = append(first, p.first[:min(p.n, int64(len(p.first)))]...)
	}
	slices.Sort(first)
	copy(out.first[:], first)
	return out
}

// findings classifies a column's texts that are not numbers, and says how they could be read as
// numbers.
type findings struct {
	numbers places // would be numbers in another form
	forms   uint   // a bit for each of numberForms that reads all numbers of the column
	pointed int64  // numbers with a point or comma that can be read
	dates   places // in another form than the given one
	fits    [len(dateForms)]int64
	wrong   map[*problem]*places // looks like a date but is none
	missing spelled
	truth   spelled
	cases   map[string]string // from a spelling in the data to the study's value
	cased   places
	rest    places
}

// numberForms are the forms of numbers, simplest first.
var numberForms = [...]Dialect{
	{Decimal: DecimalComma}, {Decimal: DecimalPoint},
	{Decimal: DecimalComma, Thousands: ThousandsPoint}, {Decimal: DecimalPoint, Thousands: ThousandsComma},
	{Decimal: DecimalComma, Thousands: ThousandsSpace}, {Decimal: DecimalPoint, Thousands: ThousandsSpace},
	{Decimal: DecimalComma, Thousands: ThousandsApostrophe}, {Decimal: DecimalPoint, Thousands: ThousandsApostrophe},
}

// dateForms are the forms of dates that must be given.
var dateForms = [...]DateForm{DateDots, DateSlashes, DateUS}

const allForms = 1<<len(numberForms) - 1

// formsOf returns those of the given forms in which the text is a number.
func formsOf(value []byte, among uint) (out uint) {
	for i := range numberForms {
		if among&(1<<i) == 0 {
			continue
		}
		d := numberForms[i]
		mark := d.Decimal.mark()
		plain, ok := d.Thousands.ungroup(value, mark)
		if !ok {
			plain = value
		}
		if _, wrong := parseNumber(plain, mark, DateISO); wrong == nil {
			out |= 1 << i
		}
	}
	return out
}

// read notes a text that is a number as it is: another form must read it, too.
func (f *findings) read(value []byte) {
	if bytes.IndexByte(value, '.') >= 0 || bytes.IndexByte(value, ',') >= 0 {
		f.pointed++
		if f.forms != 0 {
			f.forms = formsOf(value, f.forms)
		}
	}
}

// unread notes a text that is not a number, and why.
func (f *findings) unread(value []byte, wrong *problem, at position) {
	switch folded := strings.ToLower(string(value[:min(len(value), 32)])); {
	case wrong == otherDate:
		f.dates.add(at)
		for i, form := range dateForms {
			if _, ok := parseDate(value, form); ok {
				f.fits[i]++
			}
		}
	case wrong == notADay, wrong == shortYear, wrong == timeOfDay:
		if f.wrong == nil {
			f.wrong = map[*problem]*places{}
		}
		if f.wrong[wrong] == nil {
			f.wrong[wrong] = new(places)
		}
		f.wrong[wrong].add(at)
	case slices.Contains(missingWords, folded) && f.missing.room(value):
		f.missing.add(value, at)
	case truths[folded] != "" && f.truth.room(value):
		f.truth.add(value, at)
	case bytes.ContainsAny(value, "0123456789") && formsOf(value, allForms) != 0:
		f.numbers.add(at)
		f.forms = formsOf(value, f.forms)
	default:
		f.rest.add(at)
	}
}

// room reports whether a word is counted separately.
func (s spelled) room(word []byte) bool { return len(s) < mostSpellings || s[string(word)] != nil }

// refused notes a text that a study's binary or categorical column does not take.
func (f *findings) refused(value []byte, of *column, at position) {
	folded := strings.ToLower(string(value[:min(len(value), longestValue)]))
	if of.field.Kind == study.Categorical {
		for _, v := range of.field.Values {
			if strings.ToLower(v) == folded && (f.cases[string(value)] != "" || len(f.cases) < mostCategories) {
				if f.cases == nil {
					f.cases = map[string]string{}
				}
				f.cases[string(value)] = v
				f.cased.add(at)
				return
			}
		}
	}
	switch {
	case slices.Contains(missingWords, folded) && f.missing.room(value):
		f.missing.add(value, at)
	case of.field.Kind == study.Binary && truths[folded] != "" && f.truth.room(value):
		f.truth.add(value, at)
	default:
		f.rest.add(at)
	}
}

// looksLikeDate returns how many texts look like dates but are none.
func (f *findings) looksLikeDate() (n int64) {
	for _, p := range f.wrong {
		n += p.n
	}
	return n
}

// wants returns the kind that a column's values should have.
func (t *tally) wants() study.ColumnKind {
	if t.field != nil {
		return t.field.field.Kind
	}
	switch t.kind() {
	case KindNumeric, KindDate:
		return study.Numeric
	}
	return ""
}

// problems returns what keeps the source from being read: first the rows, then column by column.
func (s *survey) problems() (out []Problem) {
	out = append(out, s.rowProblems...)
	var asked []*tally
	for _, t := range s.columns {
		if len(s.fields) > 0 && t.field == nil || t.wants() == "" {
			continue
		}
		asked = append(asked, t)
	}
	numbers, dates := s.numberForm(asked), s.dateForm(asked)
	for _, t := range asked {
		switch t.wants() {
		case study.Numeric:
			out = append(out, t.numericProblems(s.where, numbers, dates)...)
		case study.Binary:
			out = append(out, t.binaryProblems(s.where)...)
		default:
			out = append(out, t.categoryProblems(s.where)...)
		}
	}
	return out
}

// agreed is the one form in which all columns that cannot be read now can be read; hint says why
// there is none.
type agreed struct {
	mend Dialect
	hint string
}

// numberForm looks for one form of numbers that reads all columns.
func (s *survey) numberForm(asked []*tally) agreed {
	forms, unread := uint(allForms), int64(0)
	for _, t := range asked {
		if t.wants() == study.Numeric && t.found.numbers.n > 0 {
			forms &= t.found.forms
			unread += t.found.numbers.n
		}
	}
	switch {
	case unread == 0:
		return agreed{}
	case forms == 0:
		return agreed{hint: "no decimal mark and no mark of thousands reads all of them: write them in one form"}
	}
	var one []Dialect
	for i, d := range numberForms {
		if forms&(1<<i) != 0 {
			one = append(one, d)
		}
	}
	// 1,234 is either 1.234 or 1234: the data's owner has to say.
	for _, other := range one {
		if string(other.Thousands) == string(one[0].Decimal) {
			return agreed{hint: fmt.Sprintf("is the %[1]s a decimal mark or between thousands? Say --decimal %[1]s, or --thousands %[1]s", one[0].Decimal)}
		}
	}
	var lost []string
	for _, t := range asked {
		if t.wants() == study.Numeric && t.found.numbers.n == 0 && t.found.pointed > 0 && t.found.forms&(1<<slices.Index(numberForms[:], one[0])) == 0 {
			lost = append(lost, fmt.Sprintf("%q", t.name))
		}
	}
	if lost != nil {
		return agreed{mend: one[0], hint: "then the numbers of " + strings.Join(lost[:min(len(lost), 5)], ", ") + " are not read, which are in another form"}
	}
	return agreed{mend: one[0]}
}

// dateForm looks for one form of dates that reads all columns.
func (s *survey) dateForm(asked []*tally) agreed {
	var fit []DateForm
	total := int64(0)
	for _, t := range asked {
		if t.wants() == study.Numeric {
			total += t.found.dates.n
		}
	}
	if total == 0 {
		return agreed{}
	}
	for i, form := range dateForms {
		fits := int64(0)
		for _, t := range asked {
			if t.wants() == study.Numeric {
				fits += t.found.fits[i]
			}
		}
		if fits == total {
			fit = append(fit, form)
		}
	}
	switch len(fit) {
	case 0:
		return agreed{hint: "they are in several forms, and one can be named: write all of them in one"}
	case 1:
		return agreed{mend: Dialect{Date: fit[0]}}
	}
	return agreed{hint: fmt.Sprintf("no day is above 12, so that day and month cannot be told apart: say --date %s, or --date %s", fit[0], fit[1])}
}

// hintCast is the hint for texts whose form no setting describes.
const hintCast = "store it as a number or a date, or cast it to one in the query"

// numericProblems returns the problems of a column of numbers or dates.
func (t *tally) numericProblems(where func(position) string, numbers, dates agreed) (out []Problem) {
	f := &t.found
	if t.typed {
		numbers, dates = agreed{hint: hintCast}, agreed{hint: hintCast}
	}
	if f.numbers.n > 0 {
		p := f.numbers.problem(t.name, counted(f.numbers.n, "number in another form", "numbers in another form"), where)
		p.Remedy.CSV, p.Hint = numbers.mend, numbers.hint
		out = append(out, p)
	}
	if f.dates.n > 0 {
		p := f.dates.problem(t.name, counted(f.dates.n, "date in another form", "dates in another form"), where)
		p.Remedy.CSV, p.Hint = dates.mend, dates.hint
		out = append(out, p)
	}
	for _, wrong := range []*problem{notADay, shortYear, timeOfDay} {
		if at := f.wrong[wrong]; at != nil {
			p := at.problem(t.name, fmt.Sprintf("%s: %s", counted(at.n, "value", "values"), wrong.message), where)
			p.Hint = wrong.hint
			out = append(out, p)
		}
	}
	out = append(out, t.missingProblems(where)...)
	rest := f.rest
	for _, words := range f.truth {
		rest = joined(rest, *words)
	}
	return append(out, t.restProblems(where, rest, "not a number", "not numbers", "correct it, or if it is a word for a missing value name it: --missing WORD")...)
}

// binaryProblems returns the problems of a column of zeros and ones.
func (t *tally) binaryProblems(where func(position) string) (out []Problem) {
	f := &t.found
	if len(f.truth) > 0 {
		at := f.truth.all()
		p := at.problem(t.name, fmt.Sprintf("%s (%s)", counted(at.n, "word for yes or no", "words for yes or no"), strings.Join(f.truth.words(), ", ")), where)
		p.Remedy.Words.Values = map[string]map[string]string{t.name: {}}
		for word := range f.truth {
			p.Remedy.Words.Values[t.name][word] = truths[strings.ToLower(word)]
		}
		out = append(out, p)
	}
	out = append(out, t.missingProblems(where)...)
	return append(out, t.restProblems(where, f.rest, "neither 0 nor 1", "neither 0 nor 1", fmt.Sprintf("say which value is 1: --values '%s=VALUE:1,OTHER:0'", t.name))...)
}

// categoryProblems returns the problems of a categorical column of the study.
func (t *tally) categoryProblems(where func(position) string) (out []Problem) {
	f := &t.found
	if f.cased.n > 0 {
		p := f.cased.problem(t.name, counted(f.cased.n, "value of the study's list in another case", "values of the study's list in another case"), where)
		p.Remedy.Words.Values = map[string]map[string]string{t.name: f.cases}
		out = append(out, p)
	}
	out = append(out, t.missingProblems(where)...)
	return append(out, t.restProblems(where, f.rest, "not among the values that the study lists", "not among the values that the study lists",
		fmt.Sprintf("say which of the study's values it is: --values '%s=VALUE:STUDYS'", t.name))...)
}

// missingProblems returns the words that seem to stand for a missing value.
func (t *tally) missingProblems(where func(position) string) []Problem {
	words := t.found.missing
	if len(words) == 0 {
		return nil
	}
	at := words.all()
	p := at.problem(t.name, fmt.Sprintf("%s (%s)", counted(at.n, "word for a missing value", "words for a missing value"), strings.Join(words.words(), ", ")), where)
	p.Remedy.Words.Missing = words.words()
	return []Problem{p}
}

func (t *tally) restProblems(where func(position) string, rest places, one, several, hint string) []Problem {
	if rest.n <= 0 {
		return nil
	}
	p := rest.problem(t.name, counted(rest.n, "value is "+one, "values are "+several), where)
	p.Hint = hint
	return []Problem{p}
}

// joined merges two places.
func joined(a, b places) places {
	first := append(slices.Clone(a.first[:min(a.n, int64(len(a.first)))]), b.first[:min(b.n, int64(len(b.first)))]...)
	slices.SortFunc(first, cmp.Compare)
	out := places{n: a.n + b.n}
	copy(out.first[:], first)
	return out
}

func counted(n int64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
