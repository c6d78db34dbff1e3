package sketch

import (
	"encoding/binary"
	"fmt"
)

// standardSize is the number of bytes that EncodeStandards writes for a Standard.
const standardSize = 16

// EncodeStandards writes the centre and the spread of each Standard as big-endian two's complement
// integers of eight bytes.
func EncodeStandards(of []Standard) (out []byte) {
	for _, m := range of {
		out = binary.BigEndian.AppendUint64(out, uint64(m.Centre))
		out = binary.BigEndian.AppendUint64(out, uint64(m.Spread))
	}
	return out
}

// DecodeStandards reads the output of EncodeStandards. The caller must check ranges.
func DecodeStandards(data []byte) (out []Standard, err error) {
	if len(data)%standardSize != 0 {
		return nil, fmt.Errorf("%d bytes: must be a multiple of %d", len(data), standardSize)
	}
	for ; len(data) > 0; data = data[standardSize:] {
		out = append(out, Standard{Centre: int64(binary.BigEndian.Uint64(data)), Spread: int64(binary.BigEndian.Uint64(data[8:]))})
	}
	return out, nil
}
