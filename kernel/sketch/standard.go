package sketch

import (
	"encoding/binary"
	"fmt"
)

// standardSize is how many bytes a Standard takes as EncodeStandards writes it.
const standardSize = 16

// EncodeStandards writes, of each, the centre and the spread: big-endian two's complement integers of eight bytes.
func EncodeStandards(of []Standard) (out []byte) {
	for _, m := range of {
		out = binary.BigEndian.AppendUint64(out, uint64(m.Centre))
		out = binary.BigEndian.AppendUint64(out, uint64(m.Spread))
	}
	return out
}

// DecodeStandards reads what EncodeStandards wrote. Whether anything is in range is for the caller to say.
func DecodeStandards(data []byte) (out []Standard, err error) {
	if len(data)%standardSize != 0 {
		return nil, fmt.Errorf("%d bytes are no whole number of entries, of %d bytes each", len(data), standardSize)
	}
	for ; len(data) > 0; data = data[standardSize:] {
		out = append(out, Standard{Centre: int64(binary.BigEndian.Uint64(data)), Spread: int64(binary.BigEndian.Uint64(data[8:]))})
	}
	return out, nil
}
