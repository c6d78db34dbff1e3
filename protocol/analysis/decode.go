package analysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol"
)

// Decode decodes a result document that came from elsewhere. It returns an error unless the
// document is of this study and consistent, so callers may show it unchecked.
func Decode(data []byte, id protocol.StudyID) (Result, error) {
	var r Result
	if len(data) > MaxDocument {
		return Result{}, fmt.Errorf("decoding result: a document of %d bytes, at most %d", len(data), MaxDocument)
	}
	if err := bounded(data, most{mostAtTop, mostNested, mostValues}); err != nil {
		return Result{}, fmt.Errorf("decoding result: %w", err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return Result{}, fmt.Errorf("decoding result: %w", err)
	}
	if err := r.check(id); err != nil {
		return Result{}, fmt.Errorf("decoding result: %w", err)
	}
	return r, nil
}

// check returns an error if the result is not of this study or is inconsistent.
func (r Result) check(id protocol.StudyID) error {
	if err := known(r.Format, ResultFormat); err != nil {
		return err
	}
	if r.Study != id.String() {
		return fmt.Errorf("of study %.64q, not %s", r.Study, id)
	}
	if err := r.Masked.check(); err != nil {
		return err
	}
	for i, a := range r.Analyses {
		if err := a.check(len(r.Sketches)); err != nil {
			return fmt.Errorf("analysis %d: %w", i+1, err)
		}
	}
	return nil
}

// Limits of a document, so that decoding takes no more than about 1 GiB, whatever it says. An
// analysis takes a kilobyte, any other list or structure less than 256 bytes, a value 16, and
// growing lists twice that.
const (
	mostAtTop  = 1 << 14 // parties, sketches and analyses
	mostNested = 1 << 20 // lists and structures
	mostValues = 1 << 24
)

// most limits the parts of a document.
type most struct{ top, nested, values int64 }

// bounded returns an error if decoding a document would take more memory than any result needs.
func bounded(data []byte, most most) error {
	depth, atTop, nested, values := 0, int64(0), int64(0), int64(0)
	for at := 0; at < len(data); at++ {
		switch data[at] {
		case '"':
			for at++; at < len(data) && data[at] != '"'; at++ {
				if data[at] == '\\' {
					at++
				}
			}
		case '{', '[':
			if depth++; depth == 3 { // inside a list of the document itself
				atTop++
			}
			nested++
		case '}', ']':
			depth--
		case ',':
			values++
		}
	}
	if atTop > most.top || nested > most.nested || values > most.values {
		return fmt.Errorf("a document of %d parts, %d lists and %d values: no result has so many", atTop, nested, values)
	}
	return nil
}

// DecodeLabels decodes a party's own document from the aggregator. It checks that it is of this
// study and consistent.
func DecodeLabels(data []byte, id protocol.StudyID) (Labels, error) {
	var l Labels
	if err := json.Unmarshal(data, &l); err != nil {
		return Labels{}, fmt.Errorf("decoding labels: %w", err)
	}
	if err := known(l.Format, LabelsFormat); err != nil {
		return Labels{}, fmt.Errorf("decoding labels: %w", err)
	}
	if l.Study != id.String() {
		return Labels{}, fmt.Errorf("decoding labels: of study %.64q, not %s", l.Study, id)
	}
	for _, c := range l.Columns {
		if err := c.check(); err != nil {
			return Labels{}, fmt.Errorf("decoding labels: %w", err)
		}
	}
	return l, nil
}

// known returns an error if a document's format is that of another version of this program.
func known(format, ours string) error {
	if format == ours {
		return nil
	}
	return &protocol.Disagreement{
		On: protocol.OnVersion, Who: "the aggregator", From: "this program", What: "format of the document",
		Theirs: fmt.Sprintf("%.40q", format), Ours: fmt.Sprintf("%q", ours), Do: "run the same version of the software at both",
	}
}

// check returns an error if the analysis refers to a sketch that the study lacks, or is
// inconsistent.
func (a Analysis) check(sketches int) error {
	if !a.Kind.Known() { // files are named after the kind, and it is displayed
		return fmt.Errorf("of a kind %.40q that this program does not know (is the aggregator's newer?)", a.Kind)
	}
	if a.Sketch < 0 || a.Sketch >= sketches {
		return fmt.Errorf("of sketch %d of %d", a.Sketch+1, sketches)
	}
	return a.Sound()
}

// Sound returns an error if an analysis is inconsistent by itself. In a sound analysis every index
// is in range.
func (a Analysis) Sound() error {
	if a.Undefined != "" && (len(a.Pairs) > 0 || a.Dense != nil || len(a.sections()) > 0) {
		return errors.New("there are both an answer and a reason for none")
	}
	if a.Dense != nil {
		if len(a.Pairs) > 0 {
			return errors.New("there are both pairs and a table of them")
		}
		if err := a.Dense.check(len(a.Features)); err != nil {
			return err
		}
	}
	for _, s := range a.sections() {
		if err := s.check(a); err != nil {
			return err
		}
	}
	if r := a.Repaired; r != nil && r.Undefined == "" {
		if len(r.Matrix) != len(a.Features) {
			return fmt.Errorf("a repaired matrix of %d rows for %d features", len(r.Matrix), len(a.Features))
		}
		for _, row := range r.Matrix {
			if len(row) != len(a.Features) {
				return fmt.Errorf("a row of %d entries in a repaired matrix for %d features", len(row), len(a.Features))
			}
		}
	}
	for _, p := range slices.Concat(a.Pairs, a.Shifts) {
		if p.I < 0 || p.J < p.I || p.J >= len(a.Features) {
			return fmt.Errorf("pair (%d, %d) of %d features", p.I, p.J, len(a.Features))
		}
		if err := p.check(); err != nil {
			return fmt.Errorf("pair (%d, %d): %w", p.I, p.J, err)
		}
	}
	return nil
}
