package table

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// NPY writes a matrix in numpy's format, version 1.0: a magic string, the length of the
// header as two bytes, the header as a Python dictionary that is padded with spaces and a
// line feed to a multiple of 64 bytes, and the rows as little-endian float64. Every row has
// the length of the first.
func NPY(w io.Writer, rows [][]float64) error {
	columns := 0
	if len(rows) > 0 {
		columns = len(rows[0])
	}
	const before = 10 // bytes of magic, version and length
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", len(rows), columns)
	header += strings.Repeat(" ", 63-(before+len(header))%64) + "\n"
	out := bufio.NewWriter(w)
	out.WriteString("\x93NUMPY\x01\x00")
	out.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	out.WriteString(header)
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
