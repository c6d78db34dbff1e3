package schema

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/cosketch/cosketch/seed/transcript"
)

// Encoder builds the encoding of a file's meaning: a sequence of pairs len‖path ‖ len‖value. Texts
// are their UTF-8 bytes, integers their decimal digits, and real numbers their IEEE 754 bits as a
// big-endian uint64. Lists are their length followed by their elements, each under the list's path.
type Encoder struct{ Bytes []byte }

// Text encodes a text.
func (e *Encoder) Text(path, value string) {
	e.Bytes = transcript.AppendField(e.Bytes, []byte(path))
	e.Bytes = transcript.AppendField(e.Bytes, []byte(value))
}

// Whole encodes an integer.
func (e *Encoder) Whole(path string, value int) { e.Text(path, strconv.Itoa(value)) }

// Flag encodes true or false.
func (e *Encoder) Flag(path string, value bool) { e.Text(path, strconv.FormatBool(value)) }

// Real encodes a real number.
func (e *Encoder) Real(path string, value float64) {
	e.Text(path, string(binary.BigEndian.AppendUint64(nil, math.Float64bits(value))))
}

// Texts encodes a list of texts.
func Texts[T ~string](e *Encoder, path string, values []T) {
	e.Whole(path, len(values))
	for _, v := range values {
		e.Text(path, string(v))
	}
}
