// Package transcript defines how fields are joined before they are signed, hashed or bound to a
// sealing. Every use has its own label, and every field carries its length. So no two sequences of
// fields have the same encoding.
package transcript

import (
	"crypto/sha256"
	"encoding/binary"
)

// AppendField appends len‖b to dst, the length as a big-endian uint32.
func AppendField(dst, b []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(b)))
	return append(dst, b...)
}

// Join returns the label and the fields, each with its length.
func Join(label string, fields ...[]byte) []byte {
	n := 4 + len(label)
	for _, f := range fields {
		n += 4 + len(f)
	}
	return join(make([]byte, 0, n), label, fields)
}

func join(dst []byte, label string, fields [][]byte) []byte {
	dst = AppendField(dst, []byte(label))
	for _, f := range fields {
		dst = AppendField(dst, f)
	}
	return dst
}

// Hash returns SHA-256 of the output of Join. It does not allocate for a few short fields, as in
// trees and chains.
func Hash(label string, fields ...[]byte) [32]byte {
	var short [512]byte
	return sha256.Sum256(join(short[:0], label, fields))
}

func Uint32(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
