package analysis

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/room"
)

// What parties are told of their own records. If records are gathered on the disk, so is this:
// neither a list with one value per row is in memory, nor the document that holds it.

// coded are texts of a column as numbers: each is one of few names, and possibly a handle.
type coded struct {
	names   []string
	of      []int32  // by row or record: index into names; noName: an empty text
	handles []uint64 // that follow the name and a colon; nil: none
}

// noName is the code of an empty text.
const noName = -1

func newCoded(from room.Allocator, names []string, n int, handled bool) (c coded, err error) {
	c.names = names
	if c.of, err = room.Of[int32](from, n); err == nil && handled {
		c.handles, err = room.Of[uint64](from, n)
	}
	return c, err
}

func (c coded) text(i int) string {
	switch {
	case c.of[i] == noName:
		return ""
	case c.handles == nil:
		return c.names[c.of[i]]
	}
	var handle [handleBytes]byte
	binary.BigEndian.PutUint64(handle[:], c.handles[i])
	return c.names[c.of[i]] + ":" + hex.EncodeToString(handle[:])
}

// texts returns the texts of rows from (inclusive) to to (exclusive).
func (c coded) texts(from, to int) []string {
	out := make([]string, to-from)
	for i := range out {
		out[i] = c.text(from + i)
	}
	return out
}

// picked returns the values of a release's records, and none for notJoined; nil if values is nil.
func picked[T room.Plain](from room.Allocator, values []T, of rows, none T) ([]T, error) {
	if values == nil {
		return nil, nil
	}
	out, err := room.Of[T](from, of.len())
	if err != nil {
		return nil, err
	}
	for row, record := range of.all() {
		if out[row] = none; record != notJoined {
			out[row] = values[record]
		}
	}
	return out, nil
}

// rows turns a column of all records into one of a release, given the record of each row.
func (c RowColumn) rows(from room.Allocator, of rows) (_ RowColumn, err error) {
	if c.Absent, err = of.absent(from); err != nil {
		return c, err
	}
	if c.Integers, err = picked(from, c.Integers, of, 0); err != nil {
		return c, err
	}
	if c.Numbers, err = picked(from, c.Numbers, of, 0); err != nil {
		return c, err
	}
	c.coded.of, err = picked(from, c.coded.of, of, noName)
	return c, err
}

// absent lists the rows that have no record.
func (r rows) absent(from room.Allocator) ([]int, error) {
	n := 0
	for _, record := range r.listed {
		if record == notJoined {
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	out, err := room.Of[int](from, n)
	if err != nil {
		return nil, err
	}
	n = 0
	for row, record := range r.listed {
		if record == notJoined {
			out[n] = row
			n++
		}
	}
	return out, nil
}

// spelt returns the column with its texts written out.
func (c RowColumn) spelt() RowColumn {
	if c.coded.of != nil {
		c.Texts, c.coded = c.coded.texts(0, len(c.coded.of)), coded{}
	}
	return c
}

// Encode writes the output of json.MarshalIndent, or of json.Marshal if indent is empty, piece by
// piece.
func (l Labels) Encode(w io.Writer, indent string) error {
	e := &encoder{to: bufio.NewWriterSize(w, 1<<16), indent: indent}
	bare := l
	bare.Columns = []RowColumn{}
	e.open(bare, "", "[]")
	for i, c := range l.Columns {
		e.comma(i)
		e.line(2)
		e.column(c)
	}
	if len(l.Columns) > 0 {
		e.line(1)
	}
	e.text("]")
	e.line(0)
	e.text("}")
	if e.err == nil {
		e.err = e.to.Flush()
	}
	if e.err != nil {
		return fmt.Errorf("encoding labels: %w", e.err)
	}
	return nil
}

// encoder writes JSON in pieces.
type encoder struct {
	to     *bufio.Writer
	indent string
	err    error
}

func (e *encoder) text(s string) {
	if e.err == nil {
		_, e.err = e.to.WriteString(s)
	}
}

func (e *encoder) comma(i int) {
	if i > 0 {
		e.text(",")
	}
}

// line begins a line at an indentation depth.
func (e *encoder) line(depth int) {
	if e.indent != "" {
		e.text("\n")
		e.text(e.depth(depth))
	}
}

func (e *encoder) depth(n int) string { return string(bytes.Repeat([]byte(e.indent), n)) }

func (e *encoder) marshal(v any, prefix string) (raw []byte) {
	if e.err != nil {
		return nil
	}
	if e.indent == "" {
		raw, e.err = json.Marshal(v)
	} else {
		raw, e.err = json.MarshalIndent(v, prefix, e.indent)
	}
	return raw
}

// open writes a document up to and including the opening bracket of its last list.
func (e *encoder) open(v any, prefix, last string) {
	raw := e.marshal(v, prefix)
	if at := bytes.LastIndex(raw, []byte(last)); at >= 0 {
		e.text(string(raw[:at+1]))
	}
}

func (e *encoder) column(c RowColumn) {
	about := struct {
		Analysis int    `json:"analysis"`
		Sketch   int    `json:"sketch"`
		Name     string `json:"name"`
	}{c.Analysis, c.Sketch, c.Name}
	raw := bytes.TrimRight(e.marshal(about, e.depth(2)), " \t\n}")
	e.text(string(raw))
	entries(e, "integers", len(c.Integers), func(from, to int) []int { return c.Integers[from:to] })
	entries(e, "numbers", len(c.Numbers), func(from, to int) []float64 { return c.Numbers[from:to] })
	entries(e, "texts", len(c.Texts), func(from, to int) []string { return c.Texts[from:to] })
	entries(e, "texts", len(c.coded.of), c.coded.texts)
	entries(e, "absent", len(c.Absent), func(from, to int) []int { return c.Absent[from:to] })
	entries(e, "own", len(c.Own), func(from, to int) []int { return c.Own[from:to] })
	e.line(2)
	e.text("}")
}

// entries writes a list of n entries; nothing if n is 0.
func entries[T any](e *encoder, key string, n int, of func(from, to int) []T) {
	if n == 0 {
		return
	}
	const piece = 4096
	e.text(",")
	e.line(3)
	e.text(`"` + key + `":`)
	if e.indent != "" {
		e.text(" ")
	}
	e.text("[")
	end := len("]")
	if e.indent != "" {
		end = len("\n" + e.depth(3) + "]")
	}
	for from := 0; from < n && e.err == nil; from += piece {
		e.comma(from)
		if raw := e.marshal(of(from, min(from+piece, n)), e.depth(3)); e.err == nil {
			_, e.err = e.to.Write(raw[1 : len(raw)-end])
		}
	}
	e.line(3)
	e.text("]")
}

// kept is a column in a memo; its lists follow.
type kept struct {
	About                                          RowColumn // without its lists
	Integers, Numbers, Codes, Handles, Absent, Own int       // their lengths
	Names                                          []string
}

// keep writes what an analysis tells the parties.
func keep(w io.Writer, columns [][]RowColumn) error {
	for _, own := range columns {
		if err := json.NewEncoder(w).Encode(len(own)); err != nil {
			return err
		}
		for _, c := range own {
			k := kept{Integers: len(c.Integers), Numbers: len(c.Numbers), Codes: len(c.coded.of), Handles: len(c.coded.handles), Absent: len(c.Absent), Own: len(c.Own), Names: c.coded.names}
			k.About = RowColumn{Analysis: c.Analysis, Sketch: c.Sketch, Name: c.Name}
			err := json.NewEncoder(w).Encode(k)
			err = errors.Join(err, write(w, c.Integers), write(w, c.Numbers), write(w, c.coded.of), write(w, c.coded.handles), write(w, c.Absent), write(w, c.Own))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// take reads what keep wrote, for contributions of so many rows.
func take(r *bufio.Reader, from room.Allocator, rows []int) (out [][]RowColumn, err error) {
	for _, most := range rows {
		var n int
		if err := line(r, &n); err != nil || n < 0 {
			return nil, errDamaged
		}
		var own []RowColumn
		for range n {
			var k kept
			if err := line(r, &k); err != nil {
				return nil, errDamaged
			}
			for _, n := range []int{k.Integers, k.Numbers, k.Codes, k.Handles, k.Absent, k.Own} {
				if n < 0 || n > most {
					return nil, errDamaged
				}
			}
			c := k.About
			c.coded.names = k.Names
			if c.Integers, err = read[int](r, from, k.Integers); err == nil {
				c.Numbers, err = read[float64](r, from, k.Numbers)
			}
			if err == nil {
				c.coded.of, err = read[int32](r, from, k.Codes)
			}
			if err == nil {
				c.coded.handles, err = read[uint64](r, from, k.Handles)
			}
			if err == nil {
				c.Absent, err = read[int](r, from, k.Absent)
			}
			if err == nil {
				c.Own, err = read[int](r, from, k.Own)
			}
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(c.coded.of, func(name int32) bool { return name < noName || int(name) >= len(k.Names) }) || k.Handles > 0 && k.Handles != k.Codes {
				return nil, errDamaged
			}
			own = append(own, c)
		}
		out = append(out, own)
	}
	if _, err := r.ReadByte(); err != io.EOF {
		return nil, errDamaged
	}
	return out, nil
}

// errDamaged is returned if a memo is not in this version's form.
var errDamaged = errors.New("a stored step is damaged")

// line reads a short line of JSON.
func line(r *bufio.Reader, into any) error {
	raw, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || err == io.EOF {
		return errDamaged
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// write writes numbers of 8 bytes each.
func write[T int | int32 | uint64 | float64](w io.Writer, values []T) error {
	var buf []byte
	for piece := range slices.Chunk(values, 4096) {
		buf = buf[:0]
		for _, v := range piece {
			buf = binary.LittleEndian.AppendUint64(buf, bitsOf(v))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

func bitsOf[T int | int32 | uint64 | float64](v T) uint64 {
	if f, is := any(v).(float64); is {
		return math.Float64bits(f)
	}
	return uint64(v)
}

func read[T int | int32 | uint64 | float64](r io.Reader, from room.Allocator, n int) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	out, err := room.Of[T](from, n)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, 8*min(n, 4096))
	for at := 0; at < n; {
		piece := buf[:8*min(n-at, 4096)]
		if _, err := io.ReadFull(r, piece); err != nil {
			return nil, errDamaged
		}
		for ; len(piece) > 0; piece = piece[8:] {
			switch bits := binary.LittleEndian.Uint64(piece); p := any(&out[at]).(type) {
			case *float64:
				*p = math.Float64frombits(bits)
			default:
				out[at] = T(bits)
			}
			at++
		}
	}
	return out, nil
}
