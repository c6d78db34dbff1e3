package sketch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// MaxWidth is the largest width of an entry in bytes: a whole int64.
const MaxWidth = 8

// Width returns the least number of bytes, 1 to 8, that holds every entry in two's complement. A
// sketch must be written at this width; a reader detects a larger one by comparing.
func (s Sketch) Width() int {
	var magnitude uint64 // has a bit set if some entry needs it besides its sign
	for _, v := range s.Data {
		magnitude |= uint64(v ^ v>>63)
	}
	return bits.Len64(magnitude)/8 + 1
}

// EncodedSize returns the number of bytes of an encoded sketch of a shape and width. It returns an
// error if the shape is empty or too large for this machine, or width is outside 1 to 8.
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

// Encode writes the entries row-major as little-endian two's complement integers of width bytes. It
// returns an error if the shape is wrong or width is below Width.
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

// Decode reads the output of Encode. Shape and width come from a header that is not trusted: data
// must have exactly the length that they imply, and Decode allocates at most eight times that
// length. Every decoded sketch encodes at the same width to the same bytes.
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
	decodeEntries(s.Data, data, width)
	return s, nil
}

// decodeEntries fills dst with len(dst) entries of width bytes.
func decodeEntries(dst []int64, data []byte, width int) {
	unused := 64 - 8*width
	var wide [MaxWidth]byte
	for i := range dst {
		copy(wide[:width], data[i*width:])
		dst[i] = int64(binary.LittleEndian.Uint64(wide[:])) << unused >> unused
	}
}

// scanBlock is the number of entries that Scan passes on at once: at most half a megabyte of bytes.
const scanBlock = 1 << 16

// Scan reads the output of Encode block by block, in memory that does not grow with the sketch. The
// slice passed to each is valid until each returns. The content of r must have exactly the length
// that shape and width imply.
func Scan(rows, cols, width int, r io.Reader, each func(entries []int64) error) error {
	size, err := EncodedSize(rows, cols, width)
	if err != nil {
		return fmt.Errorf("reading sketch: %w", err)
	}
	block := min(int64(scanBlock), size/int64(width))
	data, entries := make([]byte, block*int64(width)), make([]int64, block)
	for left := size; left > 0; left -= int64(len(data)) {
		if left < int64(len(data)) {
			data, entries = data[:left], entries[:left/int64(width)]
		}
		switch n, err := io.ReadFull(r, data); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("reading sketch: %d bytes for %d × %d entries of %d bytes, want %d", size-left+int64(n), rows, cols, width, size)
		case err != nil:
			return fmt.Errorf("reading sketch: %w", err)
		}
		decodeEntries(entries, data, width)
		if err := each(entries); err != nil {
			return err
		}
	}
	switch n, err := io.ReadFull(r, data[:1]); {
	case n > 0:
		return fmt.Errorf("reading sketch: more than %d bytes for %d × %d entries of %d bytes", size, rows, cols, width)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("reading sketch: %w", err)
	}
	return nil
}
