package docs_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

var update = flag.Bool("update", false, "write reference.md anew")

// The reference of the study file is what the parser answers when it is asked: keys and
// words are those that its messages list, forms those that they want. Only what a key
// means is written by hand, in meanings.

// object is a mapping of the study file, and a file that has it with given content.
type object struct {
	name  string // the path in the file, as meanings has it
	title string
	in    string   // what stands around, with %s for the content
	kinds []string // what has to stand beside a key for it to be read; the first that serves
}

func objects() []object {
	return []object{
		{"", "The file", "%s", nil},
		{"aggregator", "aggregator", "aggregator: {%s}", nil},
		{"parties", "Entries of parties", "parties: [{%s}]", nil},
		{"records", "records", "records: {%s}", nil},
		{"columns", "Entries of columns", "columns: [{%s}]", []string{"kind: numeric", "kind: categorical"}},
		{"sketches", "Entries of sketches", "sketches: [{%s}]", []string{"side: columns", "side: records", "side: moments", "side: cells", "side: counts"}},
		{"sketches.helpers", "helpers of a sketch", "sketches: [{side: columns, helpers: {%s}}]", nil},
		{"sketches.tables", "Entries of tables of a sketch", "sketches: [{side: counts, tables: [{%s}]}]", nil},
		{"sketches.tables.of", "Entries of of in a table", "sketches: [{side: counts, tables: [{of: [{%s}]}]}]", nil},
		{"privacy", "privacy", "privacy: {%s}", nil},
		{"queries", "queries", "queries: {%s}", nil},
	}
}

// no is a word that no list of words has.
const no = "zzzzzzzzzzzzzzzzzzzz"

// mistakes are what the parser says of a file with an object's content.
func mistakes(o object, content string) schema.Errors {
	separator := "\n"
	if o.name == "" {
		content = strings.ReplaceAll(content, ", ", separator)
	}
	_, err := studyfile.Parse([]byte("cosketch: study/2\n" + fmt.Sprintf(o.in, content) + "\n"))
	var all schema.Errors
	errors.As(err, &all)
	return all
}

// list takes the words behind a mark.
func list(text, mark string) []string {
	_, words, found := strings.Cut(text, mark)
	if !found {
		return nil
	}
	words, _, _ = strings.Cut(words, ";")
	return strings.Split(words, ", ")
}

// keys are an object's, in the parser's order.
func keys(t *testing.T, o object) []string {
	t.Helper()
	for _, e := range mistakes(o, no+": 1") {
		if e.Message == "unknown key" {
			return list(e.Hint, "keys here: ")
		}
	}
	t.Fatalf("nothing says which keys %q has", o.name)
	return nil
}

// form says what the parser wants of a key.
func form(o object, key string) string {
	switch {
	case o.name == "" && key == "cosketch":
		return "`study/2`"
	}
	fallback := "text"
	for _, beside := range besides(o, key) {
		for _, probe := range []string{"{a: b}", no, "[" + no + "]"} {
			for _, e := range mistakes(o, beside+key+": "+probe) {
				if !isAbout(e.Key, o, key) {
					continue
				}
				for _, text := range textForms {
					if strings.Contains(e.Message, text.says) {
						return text.is
					}
				}
				if words := list(e.Hint, "one of: "); words != nil {
					quoted := "`" + strings.Join(words, "`, `") + "`"
					if strings.HasPrefix(probe, "[") {
						return "list of " + quoted
					}
					return quoted
				}
				switch is := formOf[wanted(e.Message)]; is {
				case "":
				case "list":
					fallback = is // the next probe may say of what
				default:
					return is
				}
			}
		}
	}
	return fallback
}

// besides are what may stand before a key for it to be read.
func besides(o object, key string) []string {
	out := []string{""}
	for _, kind := range o.kinds {
		if !strings.HasPrefix(kind, key+":") {
			out = append(out, kind+", ")
		}
	}
	return out
}

// isAbout reports whether an error's path ends in an object's key, or in an entry of its
// list.
func isAbout(path string, o object, key string) bool {
	if strings.HasSuffix(path, "]") {
		path = path[:strings.LastIndexByte(path, '[')]
	}
	if o.name == "" {
		return path == key || path == key+".a"
	}
	return strings.HasSuffix(path, "."+key) || strings.HasSuffix(path, "."+key+".a")
}

// formOf is what is written for what the parser wants; empty where another probe says more.
var formOf = map[string]string{
	"a number": "number", "a whole number": "whole number", "true or false": "`true` or `false`",
	"a list": "list", "a text": "text", "unknown key": "keys: below",
}

// textForms are texts of a form, by what the parser says of another.
var textForms = []struct{ says, is string }{
	{"parsing time", "time in UTC, like `2026-12-01T17:00:00Z`"}, {"parsing peer id", "peer id"},
	{"32 hexadecimal digits", "32 hexadecimal digits in lower case"}, {"not base64", "base64"},
}

// wanted is the wish in a message.
func wanted(message string) string {
	wish, found := strings.CutPrefix(message, "want ")
	if !found {
		return message
	}
	wish, _, _ = strings.Cut(wish, ", have")
	return wish
}

// needed reports whether the parser misses a key, whatever stands beside it.
func needed(o object, key string) bool {
	for _, beside := range append([]string{}, besides(o, key)[1:]...) {
		if !missed(o, beside+no+": 1", key) {
			return false
		}
	}
	return missed(o, no+": 1", key)
}

func missed(o object, content, key string) bool {
	return slices.ContainsFunc(mistakes(o, content), func(e *schema.Error) bool {
		return e.Message == "is missing" && isAbout(e.Key, o, key)
	})
}

// reference is the document.
func reference(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`# Reference of the study file and the configuration files

<!-- Made by go test ./docs -run Reference -update from the parser and the tables of keys. -->

[study.md](study.md) says how to choose; here is every key. Keys marked * have to be there. Unknown and
repeated keys are errors, with a suggestion; so are anchors, aliases, tags and a second document.

## The study file
`)
	used := map[string]bool{}
	for _, o := range objects() {
		fmt.Fprintf(&b, "\n### %s\n\n", o.title)
		b.WriteString("| key | value | what it says |\n|---|---|---|\n")
		for _, key := range keys(t, o) {
			path := strings.TrimPrefix(o.name+"."+key, ".")
			means, known := meanings[path]
			if !known {
				t.Errorf("meanings has nothing of %q: say what it is for", path)
			}
			used[path] = true
			star := ""
			if needed(o, key) || path == "cosketch" {
				star = " *"
			}
			fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", key, star, withRange(t, path, form(o, key)), means)
		}
	}
	writeAnalyses(&b)
	for path := range meanings {
		if !used[path] {
			t.Errorf("meanings has %q, which is no key", path)
		}
	}
	fmt.Fprintf(&b, "\nAt most %d parties, %d columns, %d values of a column, %d sketches, %d analyses, and %d bytes. Names of studies, parties\nand columns have 1 to 64 letters, digits, _, -, . and single spaces; other texts up to 200 characters.\n",
		study.MaxParties, study.MaxColumns, study.MaxValues, study.MaxSketches, study.MaxAnalyses, studyfile.MaxSource)
	b.WriteString("\n## The site file of a party\n\n`party config init` writes one in which every key is shown and none is set, to `~/.config/cosketch/party.yaml` unless `--config` or `PARTY_CONFIG` says otherwise.\n\n" + schema.Reference("The site file", config.PartyKeys()))
	b.WriteString("\n## The configuration file of an aggregator\n\n`aggregator config init` writes one in which every key is shown and none is set, to `~/.config/cosketch/aggregator.yaml` unless `--config` or `AGGREGATOR_CONFIG` says otherwise.\n\n" + schema.Reference("The configuration file", config.AggregatorKeys()))
	return b.String()
}

// withRange adds what numbers a key takes to its form: as limits says, or as the parser
// says of the studies of options.
func withRange(t *testing.T, path, form string) string {
	t.Helper()
	if said, known := limits[path]; known {
		return form + ", " + said
	}
	for _, o := range options {
		if o.path == path {
			if r := o.rangeOf(t); r != "" {
				return form + ", " + r
			}
		}
	}
	if strings.HasSuffix(form, "number") {
		t.Errorf("nothing says which numbers %s takes: put it into options or limits", path)
	}
	return form
}

// writeAnalyses lists the kinds of analyses with the options that each has, and what these say.
func writeAnalyses(b *strings.Builder) {
	b.WriteString("\n### Entries of analyses\n\n| kind | options |\n|---|---|\n")
	rows := []schema.Row{
		{Name: "kind", Is: "a word of these", Says: "what is asked", Must: true},
		{Name: "intervals", Is: "`" + string(study.IntervalsEach) + "`, `" + string(study.IntervalsAll) + "`", Says: "each holds at 95 % by itself, or all of the analysis together", Default: string(study.IntervalsEach)},
	}
	for _, name := range study.Kinds() {
		kind, _ := study.KindOf(name)
		var own []string
		if !kind.Bare {
			own = append(own, "`intervals`")
		}
		for _, row := range kind.Keys().Rows() {
			own = append(own, "`"+row.Name+"`")
			same := slices.IndexFunc(rows, func(r schema.Row) bool { return r.Name == row.Name })
			if same < 0 {
				if row.Must {
					row.Says, row.Must = row.Says+"; "+string(name)+" needs it", false
				}
				rows = append(rows, row)
			} else if row.Default != rows[same].Default {
				rows[same].Default += "; of " + string(name) + ", " + row.Default
			}
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.Join(own, ", "))
	}
	_, table, _ := strings.Cut(schema.Reference("", rows), "\n\n")
	b.WriteString("\n" + table)
}

func TestReference(t *testing.T) {
	got := reference(t)
	if *update {
		if err := os.WriteFile("reference.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile("reference.md")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("reference.md is not what the parser and the tables say: go test ./docs -run Reference -update")
	}
}
