package console

import (
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/report"
	"github.com/cosketch/cosketch/node/store"
)

// Report writes a document as a page.
func (d Document) Report(c *Console, st *store.Store, path string) error {
	page := report.Page{Study: d.Study, Result: d.Result, Made: Now(), Version: "cosketch " + Version()}
	if d.Signed != nil {
		page.Signed = &report.Signature{Aggregator: d.Signed.Aggregator.String(), Message: message(d.Signed), Document: d.Signed.Document.String()}
	}
	taken, err := node.Taken(st, d.Study)
	if err != nil {
		return err
	}
	for _, step := range node.Steps() {
		page.Steps = append(page.Steps, string(step))
	}
	for _, of := range taken {
		steps := map[string]bool{}
		for step := range of {
			steps[string(step)] = true
		}
		page.Taken = append(page.Taken, steps)
	}
	if err := WriteFileWhole(path, func(w io.Writer) error { return report.HTML(w, page) }); err != nil {
		return err
	}
	return c.Print(listing{Study: d.Study.ID.String(), Files: []string{path}}, func(w io.Writer) {
		fmt.Fprintln(w, path)
		c.Say("%s", d.verified())
		c.Say("Next: open it in any browser; it loads nothing from anywhere.")
	})
}

// message names what carries the signature.
func message(s *node.Signature) string {
	if s.At != 0 {
		return "of " + s.At.String() + ", beside the board"
	}
	return s.Envelope.String() + " of the board"
}
