package analysis

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/protocol"
)

// MostInline is the largest number of features whose pairs a result document holds itself. The
// pairs of more features are in a dense table beside it.
const MostInline = decompose.MaxDim

// MostDense is the largest number of features whose pairs are reported at all. A table of them has
// at most MostDense(MostDense+1)/2 records.
const MostDense = 10_000

// PartSize is the size in bytes of every part of a dense table except the last.
const PartSize = protocol.ChunkSize

// Dense is a table of the numbers of all pairs of an analysis's features, in files beside the
// document. The document names the files by their hashes, so a verified document verifies them too.
//
// The concatenated parts hold a record for each pair: (0,0), (0,1), … (1,1), (1,2), …, without the
// pairs of a feature with itself if Diagonal is false. A record is a float64 for each of Fields and
// a byte, all little-endian. The byte is 0, or the position in Undefined, from 1, of the reason why
// there is no number; then all fields are NaN.
type Dense struct {
	Pairs     int64    `json:"pairs"`                                       // number of pairs in the table
	Diagonal  bool     `json:"diagonal"`                                    // whether pairs of a feature with itself are in the table
	Fields    []string `json:"fields" by:"-" of:"field"`                    // fields of a record of the table, in order
	Undefined []string `json:"undefined,omitempty" by:"code+1" of:"reason"` // reasons, by code from 1
	Parts     []Part   `json:"parts" by:"part"`                             // files of the table, in order
	Gist      Gist     `json:"gist"`                                        // summary of the table

	from Parts
}

// Part is a file of PartSize bytes; the last of a table may be smaller.
type Part struct {
	SHA256 string `json:"sha256"` // 64 hexadecimal digits
	Bytes  int64  `json:"bytes"`  // its size
}

// Parts opens the parts of dense tables.
type Parts interface {
	OpenPart(name protocol.Digest) (PartFile, error)
}

// PartFile is an open part.
type PartFile interface {
	io.ReaderAt
	io.Closer
}

// Document returns the part's name and size.
func (p Part) Document() (protocol.Document, error) {
	raw, err := hex.DecodeString(p.SHA256)
	d := protocol.Document{Size: p.Bytes}
	if err != nil || copy(d.Hash[:], raw) != len(d.Hash) || len(raw) != len(d.Hash) {
		return d, fmt.Errorf("part %.80q is not named by a SHA-256", p.SHA256)
	}
	return d, nil
}

// fields are the numbers that a pair may have, by their keys, in the order of a record. The first
// four are in every table. The ends of the second interval are in tables of kinds that have one,
// NaN for a pair without.
var fields = []struct {
	name string
	of   func(*Number) **float64
}{
	{"estimate", func(n *Number) **float64 { return &n.Estimate }},
	{"standard_error", func(n *Number) **float64 { return &n.StandardError }},
	{"low", func(n *Number) **float64 { return &n.Low }},
	{"high", func(n *Number) **float64 { return &n.High }},
	{"population_low", func(n *Number) **float64 { return &n.PopulationLow }},
	{"population_high", func(n *Number) **float64 { return &n.PopulationHigh }},
}

const (
	required   = 4 // of fields
	mostFields = 6
	field      = 8 // bytes
)

// Indices of the fields that a gist reads.
const (
	atLow   = 2
	atHigh  = 3
	atOuter = 4 // low, then high
)

// record is the table's record of one pair.
type record struct {
	values [mostFields]float64
	code   byte
}

func (d *Dense) stride() int64 { return field*int64(len(d.Fields)) + 1 }

// Bytes returns the size of all parts together.
func (d *Dense) Bytes() int64 { return d.Pairs * d.stride() }

// pairsOf returns the number of pairs of n features; if themselves, including each feature with
// itself.
func pairsOf(n int, themselves bool) int64 {
	if themselves {
		return int64(n) * int64(n+1) / 2
	}
	return int64(n) * int64(n-1) / 2
}

// first returns the first partner of a feature.
func (d *Dense) first(i int) int {
	if d.Diagonal {
		return i
	}
	return i + 1
}

// check returns an error if the description of a table of n features is inconsistent.
func (d *Dense) check(n int) error {
	switch {
	case n > MostDense:
		return fmt.Errorf("a dense table of %d features: at most %d are possible", n, MostDense)
	case d.Pairs != pairsOf(n, d.Diagonal):
		return fmt.Errorf("a dense table of %d pairs of %d features", d.Pairs, n)
	case len(d.Undefined) > math.MaxUint8:
		return fmt.Errorf("a dense table with %d reasons: at most %d are possible", len(d.Undefined), math.MaxUint8)
	case len(d.Gist.Clearest) > mostClearest:
		return fmt.Errorf("a dense table that shows %d pairs: at most %d are possible", len(d.Gist.Clearest), mostClearest)
	case len(d.Fields) < required:
		return fmt.Errorf("a dense table with the fields %.200q", d.Fields)
	}
	at := 0
	for i, name := range d.Fields {
		for at < len(fields) && fields[at].name != name && i >= required {
			at++
		}
		if at == len(fields) || fields[at].name != name {
			return fmt.Errorf("a dense table with the fields %.200q", d.Fields)
		}
		at++
	}
	left := d.Bytes()
	for i, p := range d.Parts {
		if _, err := p.Document(); err != nil {
			return err
		}
		if p.Bytes != min(left, PartSize) || p.Bytes < 1 {
			return fmt.Errorf("part %d of a dense table of %d bytes has %d", i+1, d.Bytes(), p.Bytes)
		}
		left -= p.Bytes
	}
	if left != 0 {
		return fmt.Errorf("the parts of a dense table lack %d of its %d bytes", left, d.Bytes())
	}
	for _, p := range d.Gist.Clearest {
		if p.I < 0 || p.J <= p.I || p.J >= n {
			return fmt.Errorf("a dense table shows pair (%d, %d) of %d features", p.I, p.J, n)
		}
		if err := p.check(); err != nil || p.Estimate == nil {
			return fmt.Errorf("a dense table shows pair (%d, %d) without a number", p.I, p.J)
		}
	}
	return nil
}

// places returns the indices of the table's fields among all fields.
func (d *Dense) places() (out []int) {
	for at, f := range fields {
		if slices.Contains(d.Fields, f.name) {
			out = append(out, at)
		}
	}
	return out
}

// errNoParts is returned to a program that reads a table but has only the document.
var errNoParts = errors.New("the document was read without the files beside it")

// reader returns the table's bytes as one file.
func (d *Dense) reader() (*partsReader, error) {
	if d.from == nil {
		return nil, errNoParts
	}
	return &partsReader{of: d, at: -1}, nil
}

// partsReader reads a table at any offset, with one part open at a time.
type partsReader struct {
	of   *Dense
	at   int
	open PartFile
}

// ReadAt implements io.ReaderAt, but is not safe for concurrent use.
func (r *partsReader) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		part := int((off + int64(n)) / PartSize)
		if part >= len(r.of.Parts) {
			return n, io.EOF
		}
		if err := r.part(part); err != nil {
			return n, err
		}
		within := off + int64(n) - int64(part)*PartSize
		left := r.of.Parts[part].Bytes - within
		if left <= 0 {
			return n, io.EOF
		}
		piece := p[n:min(int64(len(p)), int64(n)+left)]
		m, err := r.open.ReadAt(piece, within)
		if n += m; m < len(piece) {
			return n, fmt.Errorf("reading part %d of a table: %w", part+1, cmp.Or(err, io.ErrUnexpectedEOF))
		}
	}
	return n, nil
}

func (r *partsReader) part(at int) error {
	if r.at == at {
		return nil
	}
	if err := r.Close(); err != nil {
		return err
	}
	d, err := r.of.Parts[at].Document()
	if err != nil {
		return err
	}
	if r.open, err = r.of.from.OpenPart(d.Hash); err != nil {
		return err
	}
	r.at = at
	return nil
}

func (r *partsReader) Close() error {
	if r.open == nil {
		return nil
	}
	err := r.open.Close()
	r.open, r.at = nil, -1
	return err
}

// records is how many records are read at a time.
const records = 1 << 14

// each calls take with every record in order.
func (d *Dense) each(n int, take func(i, j int, r *record) error) error {
	from, err := d.reader()
	if err != nil {
		return err
	}
	stride := d.stride()
	in := io.NewSectionReader(from, 0, d.Bytes())
	buf := make([]byte, records*stride)
	var r record
	filled, at := 0, 0
	for i := range n {
		for j := d.first(i); j < n; j++ {
			if at == filled {
				read, err := io.ReadFull(in, buf)
				if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || int64(read) < stride {
					return errors.Join(cmp.Or(err, io.ErrUnexpectedEOF), from.Close())
				}
				filled, at = read, 0
			}
			r.read(buf[at:at+int(stride)], len(d.Fields))
			at += int(stride)
			if err := take(i, j, &r); err != nil {
				return errors.Join(err, from.Close())
			}
		}
	}
	return from.Close()
}

func (r *record) read(raw []byte, fields int) {
	r.values[atOuter], r.values[atOuter+1] = math.NaN(), math.NaN()
	for k := range fields {
		r.values[k] = math.Float64frombits(binary.LittleEndian.Uint64(raw[k*field:]))
	}
	r.code = raw[fields*field]
}

// pair converts a record to the form of a document.
func (d *Dense) pair(i, j int, r *record, places []int) Pair {
	p := Pair{I: i, J: j}
	if r.code > 0 {
		p.Undefined = d.Undefined[r.code-1]
		return p
	}
	values := r.values
	for k, at := range places {
		if !math.IsNaN(values[k]) {
			*fields[at].of(&p.Number) = &values[k]
		}
	}
	return p
}

// WriteTo writes the table's parts, one after the other.
func (d *Dense) WriteTo(w io.Writer) (int64, error) {
	from, err := d.reader()
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(w, io.NewSectionReader(from, 0, d.Bytes()))
	return n, errors.Join(err, from.Close())
}

// EachPair calls take for every pair of the analysis, in order, until it returns an error, which
// EachPair returns. Pairs of a dense table are read from its parts, which were verified when they
// were fetched.
func (a Analysis) EachPair(take func(Pair) error) error {
	for _, p := range a.Pairs {
		if err := take(p); err != nil {
			return err
		}
	}
	if a.Dense == nil {
		return nil
	}
	places := a.Dense.places()
	return a.Dense.each(len(a.Features), func(i, j int, r *record) error {
		if err := a.Dense.refuse(r); err != nil {
			return fmt.Errorf("pair (%d, %d): %w", i, j, err)
		}
		return take(a.Dense.pair(i, j, r, places))
	})
}

// PairCount returns the number of pairs of the analysis.
func (a Analysis) PairCount() int64 {
	if a.Dense != nil {
		return a.Dense.Pairs
	}
	return int64(len(a.Pairs))
}

// refuse returns an error if a record is neither a number nor a reason for none.
func (d *Dense) refuse(r *record) error {
	if int(r.code) > len(d.Undefined) {
		return fmt.Errorf("reason %d of %d", r.code, len(d.Undefined))
	}
	for k := range d.Fields {
		v := r.values[k]
		switch {
		case r.code > 0 && !math.IsNaN(v):
			return errors.New("there are both a number and a reason for none")
		case r.code == 0 && (math.IsInf(v, 0) || k < required && math.IsNaN(v)):
			return errors.New("a number has neither an interval nor a reason")
		}
	}
	return nil
}

// With returns the result with parts as the source of its dense tables.
func (r Result) With(parts Parts) Result {
	r.Analyses = slices.Clone(r.Analyses)
	for i, a := range r.Analyses {
		if a.Dense != nil {
			d := *a.Dense
			d.from = parts
			r.Analyses[i].Dense = &d
		}
	}
	return r
}

// Parts lists the parts of all dense tables, in order, each once.
func (r Result) Parts() (out []protocol.Document, err error) {
	seen := map[protocol.Digest]bool{}
	for _, a := range r.Analyses {
		if a.Dense == nil {
			continue
		}
		for _, p := range a.Dense.Parts {
			d, err := p.Document()
			if err != nil {
				return nil, err
			}
			if !seen[d.Hash] {
				seen[d.Hash] = true
				out = append(out, d)
			}
		}
	}
	return out, nil
}

// CheckTables reads every dense table and checks what hashes cannot: that each record is a number
// or a reason, and that the document's gist matches the table.
func (r Result) CheckTables() error {
	for i, a := range r.Analyses {
		if a.Dense == nil {
			continue
		}
		g := newGist(a.Features)
		places := a.Dense.places()
		err := a.Dense.each(len(a.Features), func(i, j int, r *record) error {
			if err := a.Dense.refuse(r); err != nil {
				return fmt.Errorf("pair (%d, %d): %w", i, j, err)
			}
			g.add(i, j, r, func() Pair { return a.Dense.pair(i, j, r, places) })
			return nil
		})
		if err == nil {
			var told, found []byte
			told, _ = json.Marshal(a.Dense.Gist)
			if found, err = json.Marshal(g.done()); err == nil && !bytes.Equal(told, found) {
				err = errors.New("what the document shows of its table is not what the table holds")
			}
		}
		if err != nil {
			return fmt.Errorf("checking the table of analysis %d: %w", i+1, err)
		}
	}
	return nil
}
