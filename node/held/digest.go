package held

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// digest is a SHA-256, cut to 16 bytes, of a key and what it stands for. Two of m
// different ids share one with probability below m²/2¹²⁹ (10⁹ ids: 1.5e-21); then they
// are taken for a repeated one and refused.
type digest [16]byte

// key makes digests. It is drawn for each Set and kept with it: digests that were
// spilled or left behind say nothing without it.
type key struct {
	ids, values [32]byte
	scratch     []byte
}

func newKey(entropy io.Reader) (*key, error) {
	var raw [64]byte
	if _, err := io.ReadFull(entropy, raw[:]); err != nil {
		return nil, fmt.Errorf("drawing the key of a held sketch: %w", err)
	}
	return keyOf(raw), nil
}

func keyOf(raw [64]byte) *key {
	return &key{ids: [32]byte(raw[:32]), values: [32]byte(raw[32:])}
}

func parseKey(text string) (*key, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 64 {
		return nil, errors.New("its key is damaged")
	}
	return keyOf([64]byte(raw)), nil
}

func (k *key) text() string {
	return hex.EncodeToString(k.ids[:]) + hex.EncodeToString(k.values[:])
}

// id is the digest of a normalised record id.
func (k *key) id(id []byte) digest {
	k.scratch = append(append(k.scratch[:0], k.ids[:]...), id...)
	return k.sum()
}

// value is the digest of a record's encoded values.
func (k *key) value(values []int64) digest {
	k.scratch = append(k.scratch[:0], k.values[:]...)
	for _, v := range values {
		k.scratch = binary.LittleEndian.AppendUint64(k.scratch, uint64(v))
	}
	return k.sum()
}

func (k *key) sum() digest {
	sum := sha256.Sum256(k.scratch)
	return digest(sum[:16])
}
