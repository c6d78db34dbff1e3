package sketch

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Sketch is an integer sketch of one side.
type Sketch struct {
	Side Side
	Rows int     // columns side: k. Records side: m records. Moments: one per clip. Cells: CellRows. Codes: CodeRows. Counts: 1
	Cols int     // columns side: n columns. Records side: k. Moments: MomentLayout.Entries. Cells: 1 + d. Codes: 1 + q. Counts: cells
	Data []int64 // Rows × Cols, row-major
}

// String returns the sketch's side and shape, never its data.
func (s Sketch) String() string {
	return fmt.Sprintf("%s sketch of %d × %d", s.Side, s.Rows, s.Cols)
}

// GoString is String, so that %#v does not print a sketch without noise.
func (s Sketch) GoString() string { return s.String() }

// Row returns row i. It shares memory with the sketch.
func (s Sketch) Row(i int) []int64 { return s.Data[i*s.Cols:][:s.Cols:s.Cols] }

// check returns an error if the side is unknown or the shape does not match the data.
func (s Sketch) check() error {
	if !s.Side.Known() {
		return fmt.Errorf("unknown side %q: want one of %v", string(s.Side), Sides())
	}
	entries, err := area(s.Rows, s.Cols)
	if err != nil {
		return err
	}
	if len(s.Data) != entries {
		return fmt.Errorf("%s has %d entries, want %d", s, len(s.Data), entries)
	}
	return nil
}

// area returns rows × cols. It returns an error if the shape is empty or its int64 data are too
// large for this machine.
func area(rows, cols int) (int, error) {
	if rows < 1 || cols < 1 {
		return 0, fmt.Errorf("shape %d × %d is empty", rows, cols)
	}
	hi, lo := bits.Mul64(uint64(rows), uint64(cols))
	if hi != 0 || lo > math.MaxInt/8 {
		return 0, fmt.Errorf("shape %d × %d is too large", rows, cols)
	}
	return int(lo), nil
}

var errNoSketch = errors.New("no sketch")
