package analysis

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"math"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// PartStore stores the parts of dense tables while a result is computed.
type PartStore interface {
	NewPart() (NewPart, error)
}

// NewPart is a part being written. End it with Keep, which stores it durably under its hash, or
// with Discard.
type NewPart interface {
	io.Writer
	Commit(name protocol.Digest) error
	Discard()
}

// denseWriter writes a table row by row.
type denseWriter struct {
	keep   PartStore
	out    *Dense
	gist   *gist
	places []int // indices of the table's fields among all fields
	codes  map[string]byte
	part   NewPart
	sum    hash.Hash
	size   int64 // of the part
}

func newDenseWriter(keep PartStore, features []Feature, with shape) *denseWriter {
	w := &denseWriter{
		keep: keep, gist: newGist(features), codes: map[string]byte{},
		out: &Dense{Pairs: pairsOf(len(features), with.themselves), Diagonal: with.themselves, Parts: []Part{}},
	}
	for at, f := range fields {
		if at < required || with.people {
			w.places, w.out.Fields = append(w.places, at), append(w.out.Fields, f.name)
		}
	}
	return w
}

// row holds the numbers of one feature with others, with all fields, and reason codes of its own.
type row struct {
	data    []record
	reasons []string
}

func (r *row) add(n Number) {
	var out record
	for at, f := range fields {
		out.values[at] = math.NaN()
		if v := *f.of(&n); v != nil {
			out.values[at] = *v
		}
	}
	if n.Estimate == nil {
		at := slices.Index(r.reasons, n.Undefined)
		if at < 0 && len(r.reasons) < math.MaxUint8-1 {
			at, r.reasons = len(r.reasons), append(r.reasons, n.Undefined)
		} else if at < 0 {
			at = math.MaxUint8 - 1
		}
		out.code = byte(at + 1)
	}
	r.data = append(r.data, out)
}

// otherReason stands for the reasons that do not fit into the list.
const otherReason = "for a reason that the table does not list: it has too many"

// code returns a reason's code in the table.
func (w *denseWriter) code(why string) byte {
	code, known := w.codes[why]
	if !known {
		if len(w.out.Undefined) == math.MaxUint8-1 {
			why = otherReason
		}
		if code, known = w.codes[why]; !known {
			w.out.Undefined = append(w.out.Undefined, why)
			code = byte(len(w.out.Undefined))
			w.codes[why] = code
		}
	}
	return code
}

// rows appends the rows of consecutive features, starting at from.
func (w *denseWriter) rows(from int, rows []row) error {
	stride := len(w.places)*field + 1
	var buf []byte
	for k := range rows {
		i, r := from+k, &rows[k]
		codes := make([]byte, len(r.reasons))
		for at, why := range r.reasons {
			codes[at] = w.code(why)
		}
		buf = slices.Grow(buf[:0], len(r.data)*stride)
		for at := range r.data {
			one := &r.data[at]
			if one.code > 0 {
				if int(one.code) > len(codes) {
					one.code = w.code(otherReason)
				} else {
					one.code = codes[one.code-1]
				}
			}
			for to, place := range w.places { // places ascend, so nothing is overwritten before it is read
				one.values[to] = one.values[place]
				buf = binary.LittleEndian.AppendUint64(buf, canonical(one.values[to]))
			}
			buf = append(buf, one.code)
			j := w.out.first(i) + at
			w.gist.add(i, j, one, func() Pair { return w.out.pair(i, j, one, w.places) })
		}
		if err := w.write(buf); err != nil {
			return err
		}
	}
	return nil
}

// canonical returns the bits of a number, with the same bits for every NaN.
func canonical(x float64) uint64 {
	if math.IsNaN(x) {
		return 0x7ff8000000000000
	}
	return math.Float64bits(x)
}

// write splits what is written into parts.
func (w *denseWriter) write(data []byte) (err error) {
	for len(data) > 0 {
		if w.part == nil {
			if w.part, err = w.keep.NewPart(); err != nil {
				return &StoreError{err}
			}
			w.sum, w.size = sha256.New(), 0
		}
		n := min(int64(len(data)), PartSize-w.size)
		if _, err := w.part.Write(data[:n]); err != nil {
			return &StoreError{err}
		}
		w.sum.Write(data[:n])
		data, w.size = data[n:], w.size+n
		if w.size == PartSize {
			if err := w.finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *denseWriter) finish() error {
	if w.part == nil {
		return nil
	}
	var name protocol.Digest
	w.sum.Sum(name[:0])
	err := w.part.Commit(name)
	w.part = nil
	if err != nil {
		return &StoreError{err}
	}
	w.out.Parts = append(w.out.Parts, Part{SHA256: hex.EncodeToString(name[:]), Bytes: w.size})
	return nil
}

// StoreError reports that a part could not be stored. It is not an error of an analysis.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return "storing a part of the result: " + e.Err.Error() }

// Fail returns the error of the catalogue.
func (e *StoreError) Fail() *fail.Error { return fail.KeepingFailed.Fail() }

// Unwrap returns what failed.
func (e *StoreError) Unwrap() error { return e.Err }

// discard drops an incomplete part.
func (w *denseWriter) discard() {
	if w.part != nil {
		w.part.Discard()
	}
}

// done returns the table, or err.
func (w *denseWriter) done(err error) (*Dense, error) {
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		return nil, err
	}
	w.out.Gist = w.gist.done()
	return w.out, nil
}
