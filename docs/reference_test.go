package docs_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

var update = flag.Bool("update", false, "write reference.md anew")

// reference returns the document: the tables of keys in files.
func reference() string {
	var b strings.Builder
	b.WriteString(`# Reference of the study file and the configuration files

<!-- Made by go test ./docs -run Reference -update from the tables of keys. -->

[study.md](study.md) says how to choose; here is every key. Keys marked * have to be there. Unknown and
repeated keys are errors, with a suggestion; so are anchors, aliases, tags and a second document.

## The study file

`)
	b.WriteString(schema.Reference("The file", studyfile.Keys()))
	writeAnalyses(&b)
	fmt.Fprintf(&b, "\nAt most %d parties (%d where sums are not masked), %d columns, %d values of a column, %d sketches, %d analyses, and %d bytes. Names of studies, parties\nand columns have 1 to 64 letters, digits, _, -, . and single spaces; other texts up to 200 characters.\n",
		study.MaxParties, study.MostUnmasked, study.MaxColumns, study.MaxValues, study.MaxSketches, study.MaxAnalyses, studyfile.MaxSource)
	b.WriteString("\n## The site file of a party\n\n`party advanced config init` writes one in which every key is shown and none is set, to `~/.config/cosketch/party.yaml` unless `--config` or `PARTY_CONFIG` says otherwise.\n\n" + schema.Reference("The site file", config.PartyKeys()))
	b.WriteString("\n## The answers of party join\n\n`party join ADDRESS --answers FILE` reads each answer from a file: the line that a person would type, or a list of lines. The word `proposed` takes what is proposed. A question that comes up and has no answer is named.\n\n" + schema.Reference("The answers", config.AnswerKeys(joining.Join)))
	b.WriteString("\n## The answers of aggregator invite\n\n`aggregator invite --answers FILE` reads them in the same way, and keeps what was answered in a file of this form beside its configuration.\n\n" + schema.Reference("The answers", config.AnswerKeys(joining.Invite)))
	b.WriteString("\n## The configuration file of an aggregator\n\n`aggregator advanced config init` writes one in which every key is shown and none is set, to `~/.config/cosketch/aggregator.yaml` unless `--config` or `AGGREGATOR_CONFIG` says otherwise.\n\n" + schema.Reference("The configuration file", config.AggregatorKeys()))
	return b.String()
}

// writeAnalyses lists the kinds of analyses with their options and what these mean.
func writeAnalyses(b *strings.Builder) {
	b.WriteString("\n### Entries of analyses\n\n| kind | options |\n|---|---|\n")
	rows := studyfile.AnalysisKeys()
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
	got := reference()
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
