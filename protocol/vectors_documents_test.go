package protocol_test

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// writtenCase is a document that an aggregator signs, and what its reader extracts.
type writtenCase struct {
	Format string `json:"format"`
	Of     string `json:"of"`   // the party that owns it; empty: everybody's
	Text   string `json:"text"` // its bytes

	Hash hexed       `json:"hash"`
	Size int         `json:"size"`
	Rows []rowsFound `json:"rows,omitempty"` // in a party's own document, by column
}

// rowsFound is the content of a party's own document for each row of its release.
type rowsFound struct {
	Column string   `json:"column"`
	Values []string `json:"values"`
}

func documents() vectors {
	return cases[writtenCase]{
		file:  "documents",
		about: "Given: the documents of the study of runs.json, byte by byte. To be found: hash and size, which the result there names, and of a party's own document each column's value for each row of its release. DOCUMENTS.md says what the keys mean.",
		given: givenDocuments,
		fill: func(t *testing.T, c *writtenCase) {
			sum := sha256.Sum256([]byte(c.Text))
			c.Hash, c.Size, c.Rows = sum[:], len(c.Text), nil
			run := storedRun(t)
			w := open(t, &run)
			var document any
			switch c.Format {
			case analysis.ResultFormat:
				r, err := analysis.Decode([]byte(c.Text), w.study.ID)
				must(t, err)
				if r.Analyses[0].Kind != study.Correlation || string(c.Hash) != string(run.Document) {
					t.Error("it is not the result of runs.json")
				}
				document = r
			case analysis.LabelsFormat:
				party, _ := w.study.PartyByName(c.Of)
				l, err := analysis.DecodeLabels([]byte(c.Text), w.study.ID)
				must(t, err)
				if string(c.Hash) != string(run.Parties[party].Labels) {
					t.Errorf("it is not the document of %s of runs.json", c.Of)
				}
				for _, column := range l.Columns {
					one := rowsFound{Column: column.Name}
					for row := range column.Rows() {
						one.Values = append(one.Values, column.Text(row))
					}
					c.Rows = append(c.Rows, one)
				}
				document = l
			}
			again, err := json.MarshalIndent(document, "", " ")
			must(t, err)
			if string(again)+"\n" != c.Text {
				t.Errorf("%s %s reads as something else", c.Format, c.Of)
			}
		},
	}
}

// storedRun returns the case of runs.json.
func storedRun(t *testing.T) runCase {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(vectorDir, "runs.json"))
	must(t, err)
	var d document[runCase]
	must(t, json.Unmarshal(raw, &d))
	return d.Cases[0]
}

func givenDocuments(t *testing.T) (out []writtenCase) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the documents' last digits are those of floating point on amd64")
	}
	run := storedRun(t)
	w := open(t, &run)
	a := w.agreed()
	var contributions []analysis.Contribution
	for i, secrets := range w.secrets {
		o, err := secrets.Open(a.group, a.commits, a.shares)
		must(t, err)
		_, contribution := w.release(i, o.Seed, o.T2)
		contribution.Header = a.headers[i].ID()
		contributions = append(contributions, contribution)
	}
	result, labels := w.analysed(protocol.Digest(run.T2), contributions)
	add := func(format, of string, document any) {
		text, err := json.MarshalIndent(document, "", " ")
		must(t, err)
		out = append(out, writtenCase{Format: format, Of: of, Text: string(text) + "\n"})
	}
	add(analysis.ResultFormat, "", result)
	for i, l := range labels {
		add(analysis.LabelsFormat, run.Parties[i].Name, l)
	}
	return out
}
