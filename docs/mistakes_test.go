package docs_test

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/schema"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// topics are the parts of the list of mistakes, by the files of protocol/study/file and protocol/schema that find them.
var topics = []struct {
	title string
	files []string
}{
	{"The form of the file", []string{"reader.go", "table.go", "form.go", "text.go", "words.go", "parse.go"}},
	{"Parties, dates, columns, records and privacy", []string{"validate.go", "tables.go", "dates.go", "features.go", "budget.go"}},
	{"Sums: moments, cells and counts; standardising", []string{"sums.go", "moments.go", "cells.go", "counts.go", "own.go"}},
	{"Masked sums", []string{"masked.go"}},
	{"Labels", []string{"labels.go"}},
	{"A public matrix", []string{"matrix.go"}},
	{"Queries", []string{"queries.go"}},
	{"Analyses", []string{"analyses.go", "kinds.go", "chosen.go", "classifiers.go", "components.go", "correlation.go", "hierarchy.go", "kmeans.go", "lda.go", "neighbors.go", "regression.go", "further.go"}},
}

// mistakesPage is the document.
func mistakesPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`# Mistakes in study files, one by one

<!-- Made by go test ./docs -run Mistakes -update from what the parser and the validation say. -->

Everything that ` + "`aggregator study check`, `aggregator study create` and `party study add`" + ` can say of a study file. What they print
begins with line, column and key; all mistakes of a file are listed at once; the exit code is 4:

` + "```text\n" + example(t) + "\n```\n" + `
` + "`…`" + ` stands for what differs; where nothing is said of what to do, the message says it. In the same words
` + "`aggregator analyze`" + ` refuses options of a further analysis. [reference.md](reference.md) has every key.
`)
	all := studyMistakes(parseAll(t))
	placed := 0
	for _, topic := range topics {
		fmt.Fprintf(&b, "\n## %s\n\n| message | of | what to do |\n|---|---|---|\n", topic.title)
		type row struct{ text, hint string }
		var order []row
		keys := map[row][]string{}
		for _, m := range all {
			if !slices.Contains(topic.files, path.Base(m.file)) {
				continue
			}
			placed++
			r := row{m.text, m.hint}
			if _, met := keys[r]; !met {
				order = append(order, r)
			}
			if m.key != "" && !slices.Contains(keys[r], m.key) {
				keys[r] = append(keys[r], m.key)
			} else if keys[r] == nil {
				keys[r] = []string{}
			}
		}
		for _, r := range order {
			of := ""
			if len(keys[r]) > 0 {
				of = "`" + strings.Join(keys[r], "`, `") + "`"
			}
			cell := func(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(r.text), of, cell(r.hint))
		}
	}
	if placed != len(all) || placed < 150 {
		for _, m := range all {
			if !slices.ContainsFunc(topics, func(t struct {
				title string
				files []string
			}) bool {
				return slices.Contains(t.files, path.Base(m.file))
			}) {
				t.Errorf("%s: topics has no place for it: %s", m.file, m.text)
			}
		}
		t.Errorf("%d of %d mistakes are in the list", placed, len(all))
	}
	return b.String()
}

// example is a mistake as it is printed.
func example(t *testing.T) string {
	t.Helper()
	_, err := studyfile.Parse([]byte("cosketch: study/2\ncolumns:\n  - {name: age, kind: numeric, bounds: [0]}\n"))
	var all schema.Errors
	errors.As(err, &all)
	for _, e := range all {
		if e.Key == "columns[0].bounds" {
			return e.Error()
		}
	}
	t.Fatalf("parsing the example: %v", err)
	return ""
}

func TestMistakes(t *testing.T) {
	got := mistakesPage(t)
	if *update {
		if err := os.WriteFile("mistakes.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile("mistakes.md")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("mistakes.md is not what the code says: go test ./docs -run Mistakes -update")
	}
}
