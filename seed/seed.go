package seed

import (
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/seed/secret"
)

// Size is the length of a seed in bytes.
const Size = 32

// Seed is the secret that a study's parties share. The zero Seed is absent.
//
// Copies share their bytes, so Destroy affects all of them. A seed cannot be printed or encoded,
// see secret.Of. Destroy must not be called while other goroutines use a copy.
type Seed struct{ box }

type box = secret.Of[[Size]byte]

// Label names a key derived from a seed.
type Label string

// The labels of cosketch/1. Each has one use.
const (
	RecordRows Label = "record rows" // row key of the columns side, whose rows belong to records
	ColumnRows Label = "column rows" // row key of the records side, whose rows belong to columns
	Confirm    Label = "confirm"     // key of the seed agreement's confirmation
	Pseudonyms Label = "pseudonyms"  // key of the pseudonyms by which records of several parties are joined

	HadamardPermutation Label = "hadamard permutation" // row key that chooses the records side's Hadamard columns

	CellRows        Label = "cell rows"        // row key of the signs of the cells' directions, whose rows belong to columns
	CellPermutation Label = "cell permutation" // row key that chooses the Hadamard columns that are the directions
)

// labelPrefix is the start of the info string of every derivation.
const labelPrefix = "cosketch/1/"

// ErrAbsent is returned when a seed is used that was never set or was destroyed.
var ErrAbsent = errors.New("seed is absent or destroyed")

var errNoInput = errors.New("no contributions")

// FromBytes returns the seed with these bytes; it is the inverse of Bytes.
func FromBytes(b [Size]byte) Seed { return Seed{secret.New(b)} }

// Bytes returns the secret. Use it only to store the attempt's secrets file. The bytes of an absent
// or destroyed seed are zeros.
func (s Seed) Bytes() [Size]byte {
	if b := secret.Reveal(s.box); b != nil {
		return *b
	}
	return [Size]byte{}
}

// Extract returns the seed HKDF-Extract(SHA-256, salt, concatenated contributions) (RFC 5869). It
// returns an error unless every contribution has 32 bytes. So no two lists of contributions have
// the same concatenation.
func Extract(salt [32]byte, contributions [][]byte) (Seed, error) {
	if len(contributions) == 0 {
		return Seed{}, fmt.Errorf("extracting seed: %w", errNoInput)
	}
	joined := make([]byte, 0, Size*len(contributions))
	defer func() { clear(joined) }()
	for i, c := range contributions {
		if len(c) != Size {
			return Seed{}, fmt.Errorf("extracting seed: contribution %d has %d bytes, want %d", i+1, len(c), Size)
		}
		joined = append(joined, c...)
	}
	key, err := hkdf.Extract(sha256.New, joined, salt[:])
	if err != nil {
		return Seed{}, fmt.Errorf("extracting seed: %w", err)
	}
	s := FromBytes([Size]byte(key))
	clear(key)
	return s, nil
}

// Derive returns HKDF-Expand(SHA-256, seed, "cosketch/1/" + label), 32 bytes. Keys of different
// labels reveal nothing about each other or the seed. It returns ErrAbsent if the seed is absent or
// destroyed.
func (s Seed) Derive(label Label) (key [32]byte, err error) {
	if s.IsZero() {
		return key, fmt.Errorf("deriving %s: %w", label, ErrAbsent)
	}
	out, err := hkdf.Expand(sha256.New, secret.Reveal(s.box)[:], labelPrefix+string(label), len(key))
	if err != nil {
		return key, fmt.Errorf("deriving %s: %w", label, err)
	}
	copy(key[:], out)
	clear(out)
	return key, nil
}

// Destroy overwrites the secret of this seed and all its copies with zeros. It does not affect keys
// that were derived before.
func (s Seed) Destroy() {
	if b := secret.Reveal(s.box); b != nil {
		clear(b[:])
	}
}

// IsZero reports whether the seed is absent or destroyed.
func (s Seed) IsZero() bool {
	b := s.Bytes()
	return subtle.ConstantTimeCompare(b[:], make([]byte, Size)) == 1
}

// Equal reports in constant time whether two seeds are the same secret.
func (s Seed) Equal(t Seed) bool {
	a, b := s.Bytes(), t.Bytes()
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
