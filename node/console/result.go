package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// Document is a result to show.
type Document struct {
	Study  *study.Study
	Result analysis.Result
	Raw    []byte          // as it came, or is to be signed
	Signed *node.Signature // nil: nobody has signed it
	Labels []byte          // labels.csv, about this node's own records; nil: none
}

// StoredResult returns a study's result as this node stored it, after verifying the
// aggregator's signature. Where there is none yet, hint says what to do.
func StoredResult(st *store.Store, s *study.Study, hint string) (Document, error) {
	result, raw, err := node.StoredResult(st, s.ID)
	if errors.Is(err, store.ErrNotFound) {
		return Document{}, WithCode(Absent, fmt.Errorf("study %s (%s) has no result here yet: %s", s.Name, s.ID.Short(), hint))
	}
	if err != nil {
		return Document{}, err
	}
	signed, err := node.Signed(st, s, raw)
	if err != nil {
		return Document{}, fmt.Errorf("result of study %s (%s): %w", s.Name, s.ID.Short(), err)
	}
	return Document{Study: s, Result: result, Raw: raw, Signed: &signed}, nil
}

// Show prints the document, or writes it to files in a directory that is not empty.
func (d Document) Show(c *Console, dir string) error {
	if dir != "" {
		return d.write(c, dir)
	}
	if c.Files != "" {
		return WithCode(Usage, fmt.Errorf("--format %s writes several files: say where, with -o DIR", c.Files))
	}
	return c.Print(json.RawMessage(d.Raw), func(w io.Writer) {
		d.text(w)
		next := "--format json prints every number; -o DIR writes files, with --format csv, parquet or npy for notebooks"
		if d.Labels != nil {
			next += "; --output DIR writes the cluster of each of your records to labels.csv, which stays with you"
		}
		c.Say("\nNext: %s.", next)
	})
}

func (d Document) text(w io.Writer) {
	writeResult(w, d.Result)
	fmt.Fprintln(w)
	Paragraph(w, "", d.verified())
}

// verified says who stands for the document.
func (d Document) verified() string {
	if d.Signed == nil {
		return "Not signed by anybody: this document was made here."
	}
	return fmt.Sprintf("Verified: aggregator %s signed this document, SHA-256 %s, in message %s of the study's board.",
		d.Signed.Aggregator, d.Signed.Document, d.Signed.Envelope.String()[:16])
}

// listing is what programs are told of written files.
type listing struct {
	Study    string   `json:"study"`
	Files    []string `json:"files"`
	SignedBy string   `json:"signed_by,omitempty"`
}

// write puts the document into a directory that only its owner can read, in the format
// that was asked for and, whole, as result.json.
func (d Document) write(c *Console, dir string) error {
	files := []file{{"result.json", d.Raw}}
	if d.Labels != nil {
		files = append([]file{{labelsCSV, d.Labels}}, files...)
	}
	more, err := d.render(c)
	if err != nil {
		return err
	}
	written, err := writeFiles(dir, append(files, more...))
	if err != nil {
		return err
	}
	out := listing{Study: d.Study.ID.String(), Files: written}
	if d.Signed != nil {
		out.SignedBy = d.Signed.Aggregator.String()
	}
	return c.Print(out, func(w io.Writer) {
		fmt.Fprintln(w, strings.Join(written, "\n"))
		c.Say("%s", d.verified())
		if d.Labels != nil {
			c.Say("%s holds what the result says of each of your own records, under your own ids. It was put together here, and nothing sends it anywhere.", written[0])
		}
	})
}

// labelsCSV is the name of the file about a party's own records.
const labelsCSV = "labels.csv"
