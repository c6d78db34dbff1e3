package study_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

func TestExplain(t *testing.T) {
	for _, test := range []struct{ file, party string }{
		{"laboratories", "imaging"},
		{"registry", "north"},
		{"hospitals", "Charité"},
		{"survey", "Charité"},
		{"patients", "cytology"},
		{"clinics", "Charité"},
		{"wards", "Charité"},
		{"visitors", "Saint Mary"},
		{"infirmaries", "Charité"},
		{"practices", "Charité"},
	} {
		s := parse(t, file(t, test.file))
		party, ok := s.PartyByName(test.party)
		if !ok {
			t.Fatalf("no party %q", test.party)
		}
		text := explained(s, party)
		checkPage(t, text)
		golden(t, test.file+".explain.txt", text)
	}
}

// TestExplainNeighbours: the explanation says what replaces a changed record, and the parties agree
// on that.
func TestExplainNeighbours(t *testing.T) {
	source := file(t, "registry")
	zeroed := parse(t, source)
	spelled := parse(t, edit(t, source, "unit: record", "unit: record, neighbours: zeroed"))
	replaced := parse(t, edit(t, source, "unit: record", "unit: record, neighbours: replaced"))
	if zeroed.Meaning != spelled.Meaning || zeroed.Meaning == replaced.Meaning {
		t.Error("the meaning does not tell zeroed from replaced neighbours")
	}
	unwrap := func(s *study.Study) string { return strings.Join(strings.Fields(explained(s, 0)), " ") }
	if got := unwrap(zeroed); !strings.Contains(got, "replaced by zeros") || !strings.Contains(got, "counts as two changes") {
		t.Error(got)
	}
	if got := unwrap(replaced); !strings.Contains(got, "replaced by another's") || !strings.Contains(got, "is one such change") || strings.Contains(got, "zeros") {
		t.Error(got)
	}
}

func TestExplainToEveryone(t *testing.T) {
	s := parse(t, file(t, "registry"))
	text := explained(s, study.Everyone)
	checkPage(t, text)
	if !strings.Contains(text, "1001 x 2 to 5 integers, 2 kB to 40 kB") {
		t.Errorf("the sizes of the three parties' sketches are not summed up:\n%s", text)
	}
	if strings.Contains(text, "YOUR COLUMNS") || strings.Contains(text, "(you)") {
		t.Error("speaks to one party")
	}
}

func TestExplainSaysHowIntervalsHold(t *testing.T) {
	s := parse(t, edit(t, file(t, "registry"), "{kind: correlation}", "{kind: covariance, intervals: all}"))
	if text := explained(s, study.Everyone); !strings.Contains(text, "covariance, with intervals that hold all together\n  - intersection\n") {
		t.Errorf("does not say how intervals hold:\n%s", text)
	}
	s = parse(t, edit(t, file(t, "hospitals"), "{kind: k-means, clusters: 2}", "{kind: group-distance}"))
	if text := explained(s, study.Everyone); !strings.Contains(text, "group-distance, mean squared distances of records within and between parties\n") {
		t.Errorf("does not say what group-distance is:\n%s", text)
	}
}

// checkPage checks what every explanation guarantees: lines of at most 100 characters, and nothing
// beyond ASCII except the two letters that this package writes itself.
func checkPage(t *testing.T, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if i := strings.IndexFunc(text, func(r rune) bool {
		return r != '\n' && (r < ' ' || r > '~') && !strings.ContainsRune("εδéôößµ²", r)
	}); i >= 0 {
		t.Errorf("unescaped character in %q", text[max(i-20, 0):min(i+20, len(text))])
	}
}

func TestExplainFlagsSuspiciousNames(t *testing.T) {
	base := file(t, "registry")
	for _, test := range []struct{ what, source, want string }{
		{"Cyrillic letters in a Latin name", strings.ReplaceAll(base, "north", "n\u043erth"),
			`party "n\u{43e}rth" mixes Latin and Cyrillic letters.`},
		{"a Greek look-alike of another column", edit(t, base, "name: income", "name: \u03b1ge"),
			`column "\u{3b1}ge" looks like column "age".`},
		{"digit for letter", strings.Replace(strings.ReplaceAll(base, "south", "site l"), "name: west", "name: site 1", 1),
			`party "site 1" looks like party "site l".`},
		{"letters that join", edit(t, base, "values: [a, b, c]", "values: [ward m, ward rn]"),
			`value of ward, "ward rn" looks like value of ward, "ward m".`},
		{"accent", edit(t, base, "values: [a, b, c]", "values: [cote, côte]"),
			`value of ward, "côte" looks like value of ward, "cote".`},
	} {
		source := strings.ReplaceAll(test.source, "owner: west", "owner: "+ownerOfLast(test.source))
		text := explained(parse(t, source), study.Everyone)
		if !strings.Contains(strings.Join(strings.Fields(text), " "), test.want) {
			t.Errorf("%s: not flagged with %s in\n%s", test.what, test.want, text)
		}
	}
	if text := explained(parse(t, base), study.Everyone); strings.Contains(text, "LOOK AT TWICE") {
		t.Errorf("plain names are flagged:\n%s", text)
	}
}

// ownerOfLast returns the name of the third party, which some cases rename.
func ownerOfLast(source string) string {
	if strings.Contains(source, "name: site 1") {
		return "site 1"
	}
	return "west"
}

// TestExplainEscapes uses free text that could pass for lines of the explanation.
func TestExplainEscapes(t *testing.T) {
	source := edit(t, file(t, "registry"), "source: census 2021", `source: "x\" \\u{41} \u00a0GUARANTEE \u4e2d"`)
	s := parse(t, source)
	north, _ := s.PartyByName("north")
	text := explained(s, north)
	checkPage(t, text)
	if want := `"x\" \\u{41} \u{a0}GUARANTEE \u{4e2d}"`; !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
		t.Errorf("want %s in\n%s", want, text)
	}
}

func TestExplainStatesEachSketchsPart(t *testing.T) {
	source := edit(t, file(t, "hospitals"), "{side: records, family: sparse, k: 32}",
		"{side: records, family: identity, share: 3}\n  - {side: columns, family: sparse, k: 64, share: 1, helpers: {squares: true}}")
	text := strings.Join(strings.Fields(explained(parse(t, source), 0)), " ")
	for _, want := range []string{
		"sketch 1 has ε = 6; sketch 2 has ε = 2.",
		"which are its values themselves, with noise",
		"for each value and squared value",
		"The results use the parties' sum of sketch 2, but each party's sketch reaches the aggregator on its own.",
		"all 31 sketched columns together, ε = 248", // the label is in the second sketch
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}

// TestExplainTellsRotationFromMixture: hadamard that keeps all of its columns hides nothing from
// anybody who knows R.
func TestExplainTellsRotationFromMixture(t *testing.T) {
	for sketch, want := range map[string]string{
		"family: hadamard, k: 32}":   "hadamard k=32: for each record 32 integers, between 32 and 256 bytes, which are its 30 values rotated: whoever knows R rotates them back, with noise",
		"family: hadamard, k: 31}":   "that mix its 30 values, with noise",
		"family: achlioptas, k: 32}": "achlioptas k=32: for each record 32 integers, between 32 and 256 bytes, that mix its 30 values, with noise",
	} {
		source := edit(t, file(t, "hospitals"), "family: sparse, k: 32}", sketch)
		text := strings.Join(strings.Fields(explained(parse(t, source), 0)), " ")
		if !strings.Contains(text, want) {
			t.Errorf("%s: want %q in\n%s", sketch, want, text)
		}
	}
	source := edit(t, edit(t, file(t, "hospitals"), "family: sparse, k: 32}", "family: hadamard, k: 32}"), "{unit: attribute, mechanism: laplace, epsilon: 8}", "{mechanism: none}")
	text := strings.Join(strings.Fields(explained(parse(t, source), 0)), " ")
	if want := "k is at most a tenth of the 30 values of a record; here k is 32, which is too many"; !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}

// Names in European languages are readable in the text that people sign; letters that could pass
// for another are not.
func TestExplainShowsLatinLetters(t *testing.T) {
	source := edit(t, file(t, "registry"), "name: age", "name: Größe")
	s := parse(t, edit(t, source, "source: census 2021", "source: \"µg/m², D\u0131\u017f\u0113\u0101se \u00d7 \u0430\u200a\u1ea1\""))
	if text := strings.Join(strings.Fields(explained(s, 1)), " "); !strings.Contains(text, `"Größe": numeric`) || !strings.Contains(text, `"µg/m², D\u{131}\u{17f}ēāse \u{d7} \u{430}\u{200a}\u{1ea1}"`) {
		t.Error(text)
	}
	s = parse(t, edit(t, source, "name: income", "name: Grösse"))
	if text := explained(s, study.Everyone); strings.Contains(text, "looks like") {
		t.Errorf("ß is not ss:\n%s", text)
	}
	s = parse(t, edit(t, edit(t, file(t, "registry"), "name: age", "name: Ður"), "name: income", "name: Đur"))
	if text := explained(s, study.Everyone); !strings.Contains(text, `column "Đur" looks like column "Ður"`) {
		t.Errorf("two letters that look the same:\n%s", text)
	}
}

// The explanation gives a transform with its column, and its effect on the ends of the range. The
// parties agree on it.
func TestExplainTransforms(t *testing.T) {
	seen := map[string]string{}
	for columns, want := range map[string]string{
		"bounds: [1930-01-01, 2010-12-31]":                    `"income": numeric, dates, 1930-01-01 to 2010-12-31`,
		"centre: 1968-01-01, spread: 7300":                    `"income": numeric, dates, centre 1968-01-01 and spread 7300 days`,
		"bounds: [0, 250000]":                                 `"income": numeric, 0 to 250000`,
		"bounds: [1, 250000], transform: log":                 `"income": numeric, 1 to 250000, as log(income), where 0 and less count as 1`,
		"centre: 30000, spread: 2, transform: log":            `"income": numeric, centre 30000 and spread a factor of 2, so 3750 to 240000, as log(income), where 0 and less count as 3750`,
		"bounds: [0, 250000], transform: asinh, unit: 100":    `"income": numeric, 0 to 250000, as asinh(income/100)`,
		"bounds: [0, 250000], transform: asinh, unit: 1000":   `"income": numeric, 0 to 250000, as asinh(income/1000)`,
		"centre: 0, spread: 10, transform: asinh, unit: 1000": `"income": numeric, centre 0 and spread a factor of 10, so -500000 to 500000, as asinh(income/1000)`,
	} {
		s := parse(t, edit(t, file(t, "registry"), "bounds: [0, 250000]", columns))
		north, _ := s.PartyByName("north")
		text := explained(s, north)
		checkPage(t, text)
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%s: want %s in\n%s", columns, want, text)
		}
		if other, there := seen[s.Meaning.String()]; there {
			t.Errorf("%s means the same as %s", columns, other)
		}
		seen[s.Meaning.String()] = columns
	}
}

// explained returns an explanation in lines, as package node/present writes it; its tests check
// that both are equal.
func explained(s *study.Study, party int) string {
	const width = 100
	var out strings.Builder
	indent := ""
	for _, b := range s.Explain(party) {
		switch b := b.(type) {
		case block.Heading:
			indent = "  "
			out.WriteString("\n" + strings.ToUpper(b.Text) + "\n")
		case block.Text:
			out.WriteString(block.Wrap(indent, indent, b.Text, width))
		case block.List:
			for _, item := range b.Items {
				out.WriteString(block.Wrap(indent+"- ", indent+"  ", item, width))
			}
		}
	}
	return out.String()
}
