package sketch

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// MaxWidth is the widest entry in bytes: a whole int64.
const MaxWidth = 8

// Width returns the least number of bytes, 1 to 8, that holds every entry in two's
// complement. A sketch is written at this width; whoever reads one written wider
// can tell by comparing.
func (s Sketch) Width() int {
	var magnitude uint64 // a bit is set here if some entry needs it beside its sign
	for _, v := range s.Data {
		magnitude |= uint64(v ^ v>>63)
	}
	return bits.Len64(magnitude)/8 + 1
}

// EncodedSize returns the bytes of an encoded sketch of a shape and width. It
// refuses empty shapes, widths outside 1 to 8 and shapes that this machine cannot hold.
func EncodedSize(rows, cols, width int) (int64, error) {
	if width < 1 || width > MaxWidth {
		return 0, fmt.Errorf("entries of %d bytes: must be between 1 and %d", width, MaxWidth)
	}
	entries, err := area(rows, cols)
	if err != nil {
		return 0, err
	}
	return int64(entries) * int64(width), nil // at most 8 × entries, which area allowed
}

// Encode writes the entries row-major as little-endian two's complement integers
// of width bytes. It refuses a sketch of a wrong shape and a width below Width.
func (s Sketch) Encode(width int) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("encoding sketch: %w", err)
	}
	size, err := EncodedSize(s.Rows, s.Cols, width)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", s, err)
	}
	if least := s.Width(); width < least {
		return nil, fmt.Errorf("encoding %s: entries need %d bytes, not %d", s, least, width)
	}
	out := make([]byte, size)
	var wide [MaxWidth]byte
	for i, v := range s.Data {
		binary.LittleEndian.PutUint64(wide[:], uint64(v))
		copy(out[i*width:], wide[:width])
	}
	return out, nil
}

// Decode reads what Encode wrote. Shape and width come from a header that is not
// trusted: data must have exactly the length that they imply, and what is
// allocated is at most eight times that. Every decoded sketch encodes at the same
// width to the same bytes.
func Decode(side Side, rows, cols, width int, data []byte) (Sketch, error) {
	if !side.Known() {
		return Sketch{}, fmt.Errorf("decoding sketch: unknown side %.20q", string(side))
	}
	size, err := EncodedSize(rows, cols, width)
	if err != nil {
		return Sketch{}, fmt.Errorf("decoding sketch: %w", err)
	}
	if int64(len(data)) != size {
		return Sketch{}, fmt.Errorf("decoding sketch: %d bytes for %d × %d entries of %d bytes, want %d", len(data), rows, cols, width, size)
	}
	s := Sketch{Side: side, Rows: rows, Cols: cols, Data: make([]int64, rows*cols)}
	unused := 64 - 8*width
	var wide [MaxWidth]byte
	for i := range s.Data {
		copy(wide[:width], data[i*width:])
		s.Data[i] = int64(binary.LittleEndian.Uint64(wide[:])) << unused >> unused
	}
	return s, nil
}
