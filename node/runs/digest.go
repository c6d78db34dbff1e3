package runs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Digest is the SHA-256 of a key and a value, cut to 16 bytes. The probability that two of m
// different ids collide is below m²/2¹²⁹ (10⁹ ids: 1.5e-21); then the id is refused as repeated.
type Digest [16]byte

// Key makes digests. Without it, digests that were spilled or left behind reveal nothing. It is not
// safe for concurrent use.
type Key struct {
	ids, values [32]byte
	scratch     []byte
}

// NewKey draws a key.
func NewKey(entropy io.Reader) (*Key, error) {
	var raw [64]byte
	if _, err := io.ReadFull(entropy, raw[:]); err != nil {
		return nil, fmt.Errorf("drawing a key for digests of records: %w", err)
	}
	return keyOf(raw), nil
}

func keyOf(raw [64]byte) *Key {
	return &Key{ids: [32]byte(raw[:32]), values: [32]byte(raw[32:])}
}

// ParseKey parses what Text returned.
func ParseKey(text string) (*Key, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 64 {
		return nil, errors.New("its key is damaged")
	}
	return keyOf([64]byte(raw)), nil
}

// Text encodes the key.
func (k *Key) Text() string {
	return hex.EncodeToString(k.ids[:]) + hex.EncodeToString(k.values[:])
}

// Clone returns a copy of the key, for another goroutine.
func (k *Key) Clone() *Key { return &Key{ids: k.ids, values: k.values} }

// ID returns the digest of a normalised record id.
func (k *Key) ID(id []byte) Digest {
	k.scratch = append(append(k.scratch[:0], k.ids[:]...), id...)
	return k.sum()
}

// Value returns the digest of a record's encoded values.
func (k *Key) Value(values []int64) Digest {
	k.scratch = append(k.scratch[:0], k.values[:]...)
	for _, v := range values {
		k.scratch = binary.LittleEndian.AppendUint64(k.scratch, uint64(v))
	}
	return k.sum()
}

func (k *Key) sum() Digest {
	sum := sha256.Sum256(k.scratch)
	return Digest(sum[:16])
}
