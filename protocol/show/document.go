package show

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// Document is a result as a document, with what is known of its origin.
type Document struct {
	Result analysis.Result
	Board  *Board     // nil: nothing is known of the board
	Signed *Signature // nil: not signed
	Made   string     // when and by what the page was made; empty: not shown
}

// Signature says who signed a result.
type Signature struct {
	Aggregator string // peer id
	Message    string // id of the signed message on the board; empty: none
	At         string // when it was signed outside the board, like a further result; empty: it was not
	Document   string // SHA-256 of the result
}

// Verified says who signed a document whose signature was verified where it is shown.
func (s *Signature) Verified() string {
	switch {
	case s == nil:
		return "Not signed by anybody: this document was made here."
	case s.At != "":
		return fmt.Sprintf("Verified: aggregator %s signed this further result at %s, SHA-256 %s.", s.Aggregator, s.At, s.Document)
	}
	return fmt.Sprintf("Verified: aggregator %s signed this document, SHA-256 %s, in message %.16s of the study's board.", s.Aggregator, s.Document, s.Message)
}

// Title returns the document's title.
func (d Document) Title() string {
	return fmt.Sprintf("%s: result of study %.8s", d.Result.Name, d.Result.Study)
}

// Kicker returns the line above the headline.
func (d Document) Kicker() string {
	about := "the same columns about different records"
	if d.Result.Partition == study.Vertical {
		about = "different columns about the same records"
	}
	return fmt.Sprintf("Study “%s”, %s", d.Result.Name, about)
}

// Footer ends a page of a result.
const Footer = "Every number here is an estimate from sketches; its interval covers projection and noise together. This page holds no record and no record id."

// Blocks returns the result and its origin.
func (d Document) Blocks() []block.Block {
	out := Result(d.Result, d.Board)
	tone := block.Plain
	if d.Signed == nil {
		tone = block.Warn
	}
	facts := []block.Fact{{Name: "study", Text: d.Result.Study, Code: true}, {Name: "transcript T2", Text: d.Result.T2, Code: true, More: fmt.Sprintf("attempt %d", d.Result.Attempt)}}
	if s := d.Signed; s != nil {
		facts = append(facts, block.Fact{Name: "result, SHA-256", Text: s.Document, Code: true}, block.Fact{Name: "signed by", Text: s.Aggregator, Code: true})
		if s.Message != "" {
			facts = append(facts, block.Fact{Name: "in message", Text: s.Message, Code: true, More: "of the board"})
		}
	}
	for _, p := range d.Result.Parties {
		facts = append(facts, block.Fact{Name: "release of " + p.Name, Text: p.Release, Code: true})
	}
	if d.Made != "" {
		facts = append(facts, block.Fact{Name: "made", Text: d.Made})
	}
	return append(out, block.Heading{ID: "provenance", Text: "Provenance"}, block.Text{Tone: tone, Text: d.Signed.Verified()}, block.Facts{Items: facts})
}
