package analysis

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// Bounds are upper limits of a study's result, whoever made it. Decoding a document within them
// takes less than MemoryPerByte times its limit.
type Bounds struct {
	Document int64 // bytes
	Tables   int64 // bytes of all tables together

	parties, sketches int
	kinds             []study.AnalysisKind // of its analyses, in order; nil: one analysis of any kind
}

// MemoryPerByte is how many bytes of memory a byte of a document's limit may cost. A list or
// structure takes at most 256 bytes of memory and at least leastNested of the limit; growing lists
// take twice that.
const MemoryPerByte = 40

// leastNested is a lower bound, on average, of the bytes of a list or structure in an honest
// document.
const leastNested = 24

// Largest sizes in bytes of parts of a document, with their keys and indentation.
const (
	mostNumber = 512 // with a reason why it is undefined
	mostEntry  = 48
	mostBase   = 64 << 10 // words, and whatever has the same size in all studies
	mostPoints = 1000     // of a picture
)

// BoundsOf returns the bounds of a study's own result.
func BoundsOf(s *study.Study) Bounds {
	out := Bounds{Document: mostBase + int64(len(s.Parties))*1024 + int64(len(s.Sketches))*8192, parties: len(s.Parties), sketches: len(s.Sketches), kinds: []study.AnalysisKind{}}
	for _, a := range s.Analyses {
		out.kinds = append(out.kinds, a.Kind)
		out.Document = plus(out.Document, mostOf(s, a))
	}
	out.Document, out.Tables = min(out.Document, MaxDocument), SizeOf(s).Tables
	return out
}

// FurtherBounds returns the bounds of the answer to one further analysis, of any kind.
func FurtherBounds(s *study.Study) Bounds {
	out := BoundsOf(s)
	out.kinds, out.Document, out.Tables = nil, 0, 0
	for _, k := range kinds() {
		a := study.Analysis{Kind: k.name, Options: k.asked}
		out.Document = max(out.Document, mostBase+mostOf(s, a))
		out.Tables = max(out.Tables, sizeOf(s, a).Tables)
	}
	out.Document = min(out.Document, MaxDocument)
	return out
}

// mostOf returns the largest size of an analysis in a document.
func mostOf(s *study.Study, a study.Analysis) int64 {
	t := takenBy(s, a)
	if t.side == sketch.Records {
		t.values = 0
	}
	// Every analysis has features, which may be listed again as left out, and numbers of each
	// feature and each party.
	size := plus(mostBase, mostNumbers(16, t.values+t.parties))
	size = plus(size, times(4*longestName(s), t.values+t.parties))
	size = plus(size, mostNumbers(2, t.parties, t.parties))
	if of := kindOf(a.Kind).most; of != nil {
		size = plus(size, of(t))
	}
	return plus(size, mostEntry*8*mostPoints)
}

// mostNumbers bounds the size of so many numbers; count is multiplied.
func mostNumbers(count ...int64) int64 {
	out := int64(mostNumber)
	for _, c := range count {
		out = times(out, c)
	}
	return out
}

// pairsAtMost bounds the size of numbers of pairs of values in the document; too many are in
// tables.
func pairsAtMost(t *taken) int64 {
	if t.values <= MostInline {
		return plus(mostNumbers(t.values, t.values), times(mostEntry*t.values, t.values))
	}
	return mostNumbers(mostClearest + sizeOf(t.study, t.asked).Tables/PartSize)
}

// longestName bounds the escaped length of a feature's party, column and value.
func longestName(s *study.Study) int64 {
	party, column, value := 0, 0, 0
	for _, p := range s.Parties {
		party = max(party, len(p.Name))
	}
	for _, c := range s.Columns {
		column = max(column, len(c.Name))
		for _, v := range c.Classes() {
			value = max(value, len(v))
		}
	}
	return 128 + 6*int64(party+column+value)
}

// Decode decodes a document that an aggregator signed, like the function Decode. It refuses what no
// result of the study can have before it allocates memory for it. It ends with ctx.
func (b Bounds) Decode(ctx context.Context, data []byte, id protocol.StudyID) (Result, error) {
	if int64(len(data)) > b.Document {
		return Result{}, fmt.Errorf("decoding result: a document of %d bytes: one of this study has at most %d", len(data), b.Document)
	}
	if err := bounded(data, most{top: mostAtTop, nested: b.Document / leastNested, values: b.Document}); err != nil {
		return Result{}, fmt.Errorf("decoding result: %w", err)
	}
	r, err := b.read(ctx, data)
	if err == nil {
		err = r.check(id)
	}
	for i, kind := range b.kinds {
		if err == nil && r.Analyses[i].Kind != kind {
			err = fmt.Errorf("analysis %d is of kind %.40q, the study asks for %s", i+1, r.Analyses[i].Kind, kind)
		}
	}
	if err != nil {
		return Result{}, fmt.Errorf("decoding result: %w", err)
	}
	parts, err := r.Parts()
	if err != nil {
		return Result{}, fmt.Errorf("decoding result: %w", err)
	}
	var tables int64
	for _, p := range parts {
		tables = plus(tables, p.Size)
	}
	if tables > b.Tables {
		return Result{}, fmt.Errorf("decoding result: tables of %d bytes: one of this study has at most %d", tables, b.Tables)
	}
	return r, nil
}

// read decodes a document list by list, and refuses lists longer than the study's.
func (b Bounds) read(ctx context.Context, data []byte) (r Result, err error) {
	in := json.NewDecoder(whileContext{ctx, bytes.NewReader(data)})
	if err := delimiter(in, '{'); err != nil {
		return r, err
	}
	analyses := 1
	if b.kinds != nil {
		analyses = len(b.kinds)
	}
	seen, rest := map[string]bool{}, map[string]json.RawMessage{}
	for in.More() {
		token, err := in.Token()
		if err != nil {
			return r, err
		}
		key, _ := token.(string)
		if seen[key] || len(seen) > 64 {
			return r, fmt.Errorf("the key %.40q appears twice, or there are too many keys", key)
		}
		seen[key] = true
		switch key {
		case "parties":
			r.Parties, err = list[Party](ctx, in, key, b.parties)
		case "absent":
			r.Absent, err = list[string](ctx, in, key, b.parties)
		case "sketches":
			r.Sketches, err = list[Sketch](ctx, in, key, b.sketches)
		case "analyses":
			r.Analyses, err = list[Analysis](ctx, in, key, analyses)
		default:
			var value json.RawMessage
			if err = in.Decode(&value); len(value) > mostBase {
				return r, fmt.Errorf("the value of %.40q has %d bytes, at most %d are possible", key, len(value), mostBase)
			}
			rest[key] = value
		}
		if err != nil {
			return r, err
		}
	}
	if err := delimiter(in, '}'); err != nil {
		return r, err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return r, errors.New("more follows after the end of the document")
	}
	if b.kinds != nil && len(r.Analyses) != analyses {
		return r, fmt.Errorf("it has %d analyses, the study asks for %d", len(r.Analyses), analyses)
	}
	raw, err := json.Marshal(rest)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(raw, &r)
}

// list decodes a list. It returns an error if there are more than most entries.
func list[T any](ctx context.Context, in *json.Decoder, key string, most int) (out []T, err error) {
	if err := delimiter(in, '['); err != nil {
		return nil, err
	}
	out = []T{}
	for in.More() {
		if len(out) == most {
			return nil, fmt.Errorf("it has more %s than the %d of the study", key, most)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var one T
		if err := in.Decode(&one); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, delimiter(in, ']')
}

func delimiter(in *json.Decoder, want json.Delim) error {
	token, err := in.Token()
	if err != nil {
		return err
	}
	if token != want {
		return fmt.Errorf("found %.40v, want %v", token, want)
	}
	return nil
}

// whileContext is a reader that fails once its context ends.
type whileContext struct {
	context.Context
	from io.Reader
}

func (w whileContext) Read(p []byte) (int, error) {
	if err := w.Err(); err != nil {
		return 0, err
	}
	return w.from.Read(p)
}

// LabelBounds are upper limits of a party's own document, for a release of so many rows.
type LabelBounds struct {
	Document int64 // bytes
	columns  int
	rows     int64
}

// LabelsOf returns the bounds of a party's document beside a study's own result.
func LabelsOf(s *study.Study, rows int64) LabelBounds { return labelsOf(s, rows, s.Analyses) }

// FurtherLabelsOf returns the bounds of a party's document beside the answer to one further
// analysis.
func FurtherLabelsOf(s *study.Study, rows int64) LabelBounds {
	most := study.Analysis{Kind: study.Neighbors, Options: study.NeighborsOptions{Neighbors: int(min(mostTold/max(rows, 1)+1, mostFurtherNeighbors))}}
	return labelsOf(s, rows, []study.Analysis{most})
}

const mostFurtherNeighbors = 1000

func labelsOf(s *study.Study, rows int64, analyses []study.Analysis) LabelBounds {
	out := LabelBounds{rows: rows}
	for _, a := range analyses {
		if told := kindOf(a.Kind).told; told != nil {
			out.columns += told(a)
		} else {
			out.columns += 2
		}
	}
	// A value, that it is absent, and its own row.
	each := 2*mostEntry + longestName(s)
	out.Document = min(plus(mostBase, times(int64(out.columns), plus(512, times(rows, each)))), mostLabels)
	return out
}

// mostLabels limits a party's own document in bytes, whatever the study: see mostTold.
const mostLabels = 1 << 30

// AnswerOf returns the bounds of the answer to a query of so many rows.
func AnswerOf(s *study.Study, rows int64) LabelBounds {
	return labelsOf(s, rows, []study.Analysis{{Kind: study.Neighbors, Options: study.NeighborsOptions{Neighbors: s.Queries.Neighbors}}})
}

// Check returns an error if a document would take more memory than any of the study.
func (b LabelBounds) Check(data []byte) error {
	if int64(len(data)) > b.Document {
		return fmt.Errorf("a document of %d bytes: one of this study has at most %d", len(data), b.Document)
	}
	// The lists of a column are not nested.
	return bounded(data, most{top: int64(b.columns), nested: 2 + 6*int64(b.columns), values: times(int64(b.columns), 3*b.rows+16)})
}

// Decode decodes such a document like DecodeLabels. It refuses what no document of the study can
// have before it allocates memory for it.
func (b LabelBounds) Decode(data []byte, id protocol.StudyID) (Labels, error) {
	if err := b.Check(data); err != nil {
		return Labels{}, fmt.Errorf("decoding labels: %w", err)
	}
	l, err := DecodeLabels(data, id)
	for _, c := range l.Columns {
		if n := int64(c.Rows()); err == nil && n != b.rows {
			err = fmt.Errorf("decoding labels: column %.40q has %d values, the release %d rows", c.Name, n, b.rows)
		}
	}
	if err != nil {
		return Labels{}, err
	}
	return l, nil
}
