package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/show"
	"github.com/cosketch/cosketch/protocol/study"
)

// Document is a result to show.
type Document struct {
	Study  *study.Study
	Result analysis.Result
	Raw    []byte            // as received, or as it is to be signed
	Signed *stored.Signature // nil: unsigned
	Labels []byte            // labels.csv, about this node's own records; nil: none
	Beside []stored.Further  // the study's further results stored here
	Lost   []error           // and those that can no longer be read

	further *protocol.Further // its statement, if it is not a study's own result
}

// furtherSignature returns the signature of a further result, which is on no board.
func furtherSignature(f protocol.Further) *stored.Signature {
	return &stored.Signature{Aggregator: f.Aggregator, Document: f.Document.Hash, At: f.At, Statement: f.Encode()}
}

// FindDocument returns the result of the study whose id begins with prefix, or the further result
// whose name begins with further, after verifying the aggregator's signature.
func FindDocument(st *store.Store, role store.Role, prefix, further string) (Document, error) {
	s, err := FindStudy(st, prefix)
	if err != nil {
		return Document{}, err
	}
	beside, lost, err := stored.FurtherResults(st, s)
	if err != nil {
		return Document{}, err
	}
	if further == "" {
		hint := "party run " + s.ID.Short() + " fetches it"
		if role == store.Aggregator {
			hint = "aggregator status " + s.ID.Short() + " says what it waits for"
		}
		d, err := storedResult(st, s, hint)
		d.Beside, d.Lost = beside, lost
		return d, err
	}
	var names []string
	for _, f := range beside {
		name := f.Statement.Document.Hash.String()
		if strings.HasPrefix(name, further) {
			return Document{Study: s, Result: f.Result, Raw: f.Raw, Signed: furtherSignature(f.Statement), further: &f.Statement}, nil
		}
		names = append(names, name[:8])
	}
	for _, err := range lost {
		names = append(names, err.Error())
	}
	if len(names) == 0 {
		names = []string{"there are none"}
	}
	return Document{}, fail.Usage.Of(fmt.Errorf("study %s (%s) has no further result %q here: %s", s.Name, s.ID.Short(), further, strings.Join(names, ", ")))
}

// OwnLabels adds the labels of this party's own records.
func (d *Document) OwnLabels(st *store.Store) (err error) {
	if d.further != nil {
		d.Labels, err = local.FurtherLabels(st, d.Study, *d.further)
	} else {
		d.Labels, err = local.OwnLabels(st, d.Study)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// storedResult returns a study's result as this node stored it, after verifying the aggregator's
// signature. If there is none yet, hint says what to do.
func storedResult(st *store.Store, s *study.Study, hint string) (Document, error) {
	result, raw, err := stored.Result(st, s.ID)
	if errors.Is(err, store.ErrNotFound) {
		if now, err := StudySnapshot(st, s.ID); err == nil && now.Failure != "" {
			return Document{}, fail.Failed.Of(fmt.Errorf("study %s (%s) ended without a result: %s", s.Name, s.ID.Short(), now.Failure))
		}
		return Document{}, fail.NoResultHere.New(s.Name, s.ID.Short()).With(hint)
	}
	if err != nil {
		return Document{}, err
	}
	signed, err := stored.Signed(st, s, raw)
	if err != nil {
		return Document{}, fmt.Errorf("result of study %s (%s): %w", s.Name, s.ID.Short(), err)
	}
	return Document{Study: s, Result: result, Raw: raw, Signed: &signed}, nil
}

// Show prints the document, or writes it to files if dir is not empty.
func (d Document) Show(c *Console, dir string) error {
	if dir != "" {
		return d.write(c, dir)
	}
	if c.Files != "" {
		return fail.Usage.Of(fmt.Errorf("--format %s writes several files: say where, with -o DIR", c.Files))
	}
	return c.Print(json.RawMessage(d.Raw), func(w io.Writer) {
		d.text(w)
		next := "--format json prints every number; -o DIR writes files, with --format csv, parquet or npy for notebooks"
		name := ""
		if d.further != nil {
			name = fmt.Sprintf("--further %.8s ", d.further.Document.Hash.String())
		}
		if d.Labels != nil {
			next += "; --output DIR writes what was found about each of your records to labels.csv, which stays with you"
		}
		if slices.ContainsFunc(d.Result.Analyses, func(a analysis.Analysis) bool { return a.CellMeans != nil }) {
			next += "; " + name + "--label FILE writes the cluster of each of your records"
		} else if slices.ContainsFunc(d.Result.Analyses, func(a analysis.Analysis) bool { return a.LDA != nil }) {
			next += "; " + name + "--label FILE writes the class predicted for each of your records"
		}
		c.Say("\nNext: %s.", next)
	})
}

// writeResult prints a result for people. The document comes from an aggregator, so nothing in it
// is trusted.
func writeResult(w io.Writer, r analysis.Result) {
	present.Text(w, append([]block.Block{block.Text{Text: fmt.Sprintf("%s (study %.8s): %s", r.Name, r.Study, show.Headline(r))}}, show.Result(r, nil)...))
}

func (d Document) text(w io.Writer) {
	writeResult(w, d.Result)
	fmt.Fprintln(w)
	about := []block.Block{block.Text{Text: d.verified()}}
	for _, f := range d.Beside {
		name := f.Statement.Document.Hash.String()
		about = append(about, block.Text{Text: fmt.Sprintf("Further result %.8s, of %s: %s (--further %.8s shows it).", name, f.Statement.At, kindsOf(f.Result), name)})
	}
	var lost []string
	for _, err := range d.Lost {
		lost = append(lost, err.Error())
	}
	present.Text(w, append(about, stored.Lost(lost)...))
}

// kindsOf lists the kinds of a result's analyses.
func kindsOf(r analysis.Result) string {
	var kinds []string
	for _, a := range r.Analyses {
		kinds = append(kinds, string(a.Kind))
	}
	return strings.Join(kinds, ", ")
}

// verified says who signed the document.
func (d Document) verified() string { return d.signature().Verified() }

// signature returns the signature in the form in which it is shown.
func (d Document) signature() *show.Signature {
	if d.Signed == nil {
		return nil
	}
	out := &show.Signature{Aggregator: d.Signed.Aggregator.String(), Message: d.Signed.Envelope.String(), Document: d.Signed.Document.String()}
	if d.Signed.At != 0 {
		out.Message, out.At = "", d.Signed.At.String()
	}
	return out
}

// listing lists written files for programs.
type listing struct {
	Study    string   `json:"study"`
	Files    []string `json:"files"`
	SignedBy string   `json:"signed_by,omitempty"`
}

// statement is the file beside result.json with which a program without a store, such as
// clients/python, verifies it. The keys are those of the API's list of results.
type statement struct {
	Name       string `json:"name"` // SHA-256 of the document
	Study      string `json:"study"`
	Aggregator string `json:"aggregator"` // peer id
	Current    bool   `json:"current"`    // the study's own result, not a further one
	Signed     []byte `json:"signed"`     // the signed statement, as protocol/SPEC.md has it
}

// signedJSON is the name of that file.
const signedJSON = "signed.json"

// statement returns the file's content, or nil if the document is unsigned.
func (d Document) statement() ([]byte, error) {
	if d.Signed == nil {
		return nil, nil
	}
	raw, err := json.MarshalIndent(statement{Name: d.Signed.Document.String(), Study: d.Study.ID.String(), Aggregator: d.Signed.Aggregator.String(),
		Current: d.further == nil, Signed: d.Signed.Statement}, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding the signed statement: %w", err)
	}
	return append(raw, '\n'), nil
}

// write writes the document into a directory that only its owner can read: in the requested format,
// and complete as result.json with its signed statement.
func (d Document) write(c *Console, dir string) error {
	files := []file{bytesFile("result.json", d.Raw)}
	signed, err := d.statement()
	if err != nil {
		return err
	}
	if signed != nil {
		files = append(files, bytesFile(signedJSON, signed))
	}
	if d.Labels != nil {
		files = append([]file{bytesFile(labelsCSV, d.Labels)}, files...)
	}
	written, err := writeFiles(dir, append(files, d.render(c)...))
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

// labelsCSV is the name of the file with labels of a party's own records.
const labelsCSV = "labels.csv"
