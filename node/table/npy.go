package table

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// NPY writes a matrix in numpy's format, version 1.0: a magic string, the length of the header as
// two bytes, the header, and the rows as little-endian float64. The header is a Python dictionary,
// padded with spaces and a line feed to a multiple of 64 bytes. All rows must have the same length.
func NPY(w io.Writer, rows [][]float64) error {
	columns := 0
	if len(rows) > 0 {
		columns = len(rows[0])
	}
	out := bufio.NewWriter(w)
	begin(out, "'<f8'", fmt.Sprintf("%d, %d", len(rows), columns))
	var number [8]byte
	for i, row := range rows {
		if len(row) != columns {
			return fmt.Errorf("writing a matrix: row %d has %d entries, the first has %d", i, len(row), columns)
		}
		for _, x := range row {
			binary.LittleEndian.PutUint64(number[:], math.Float64bits(x))
			out.Write(number[:])
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing a matrix: %w", err)
	}
	return nil
}

// Dense writes a dense table as a structured array. Its fields are those of the table, and
// undefined: a byte that is 0, or the number from 1 of the reason in the document. The records are
// in the order of numpy.triu_indices(n, k), with k = 0 if a feature with itself is a pair, and k =
// 1 otherwise.
func Dense(w io.Writer, d *analysis.Dense) error {
	out := bufio.NewWriter(w)
	description := ""
	for _, name := range d.Fields {
		description += fmt.Sprintf("('%s', '<f8'), ", name)
	}
	begin(out, "["+description+"('undefined', '|u1')]", fmt.Sprintf("%d,", d.Pairs))
	_, err := d.WriteTo(out)
	if err = errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("writing a dense table: %w", err)
	}
	return nil
}

// begin writes everything before the values.
func begin(out *bufio.Writer, description, shape string) {
	const before = 10 // size of magic, version and length
	header := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': (%s), }", description, shape)
	header += strings.Repeat(" ", 63-(before+len(header))%64) + "\n"
	out.WriteString("\x93NUMPY\x01\x00")
	out.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	out.WriteString(header)
}

// Records writes a table as a structured array whose fields are the columns. An integer or boolean
// column with absent values becomes float64 with NaN there; an absent text is empty.
func Records(w io.Writer, t analysis.Table) error {
	widths := make([]int, len(t.Columns)) // of text columns, in characters
	types, fields := make([]byte, len(t.Columns)), ""
	for at, c := range t.Columns {
		types[at] = 'f'
		absent := slices.ContainsFunc(t.Rows, func(row []any) bool { return row[at] == nil })
		switch c.Type {
		case analysis.Text:
			types[at] = 'U'
			for _, row := range t.Rows {
				text, _ := row[at].(string)
				widths[at] = max(widths[at], utf8.RuneCountInString(text), 1)
			}
		case analysis.Integer:
			if !absent {
				types[at] = 'i'
			}
		case analysis.Truth:
			if !absent {
				types[at] = 'b'
			}
		}
		fields += fmt.Sprintf("('%s', '%s'), ", c.Name, map[byte]string{'f': "<f8", 'i': "<i8", 'b': "|b1", 'U': fmt.Sprintf("<U%d", widths[at])}[types[at]])
	}
	if len(fields) > 1<<15 {
		return fmt.Errorf("writing table %s: its %d columns do not fit the header of an array", t.Name, len(t.Columns))
	}
	out := bufio.NewWriter(w)
	begin(out, "["+strings.TrimSuffix(fields, ", ")+"]", fmt.Sprintf("%d,", len(t.Rows)))
	for _, row := range t.Rows {
		for at, value := range row {
			writeField(out, types[at], widths[at], value)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing table %s: %w", t.Name, err)
	}
	return nil
}

// writeField writes a value of the given type of a structured array.
func writeField(out *bufio.Writer, kind byte, width int, value any) {
	var room [8]byte
	switch kind {
	case 'U':
		text, _ := value.(string)
		n := 0
		for _, r := range text {
			out.Write(binary.LittleEndian.AppendUint32(room[:0], uint32(r)))
			n++
		}
		for ; n < width; n++ {
			out.Write(room[4:])
		}
	case 'i':
		out.Write(binary.LittleEndian.AppendUint64(room[:0], uint64(value.(int64))))
	case 'b':
		bit := byte(0)
		if value.(bool) {
			bit = 1
		}
		out.WriteByte(bit)
	default:
		x := math.NaN()
		switch v := value.(type) {
		case float64:
			x = v
		case int64:
			x = float64(v)
		case bool:
			if x = 0; v {
				x = 1
			}
		}
		out.Write(binary.LittleEndian.AppendUint64(room[:0], math.Float64bits(x)))
	}
}
