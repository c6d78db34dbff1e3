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
// Copies share their bytes, so Destroy reaches all of them. Nothing prints or
// encodes a seed: see secret.Of. One goroutine may Destroy only when no other uses
// a copy.
type Seed struct{ box }

type box = secret.Of[[Size]byte]

// Label names what is derived from a seed.
type Label string

// The labels of cosketch/1. Each has one use.
const (
	RecordRows Label = "record rows" // row key of the columns side, whose rows belong to records
	ColumnRows Label = "column rows" // row key of the records side, whose rows belong to columns
	Confirm    Label = "confirm"     // key of the seed agreement's confirmation
	Pseudonyms Label = "pseudonyms"  // key of the names by which records of several parties are joined

	HadamardPermutation Label = "hadamard permutation" // row key of the records side's choice of Hadamard columns

	CellRows        Label = "cell rows"        // row key of the signs of cells' directions, whose rows belong to columns
	CellPermutation Label = "cell permutation" // row key of the choice of Hadamard columns that are the directions
)

// labelPrefix begins the info string of every derivation.
const labelPrefix = "cosketch/1/"

// ErrAbsent reports the use of a seed that was never set or was destroyed.
var ErrAbsent = errors.New("seed is absent or destroyed")

var errNoInput = errors.New("no contributions")

// FromBytes returns the seed that Bytes gave.
func FromBytes(b [Size]byte) Seed { return Seed{secret.New(b)} }

// Bytes returns the secret, for the attempt's secrets file and nothing else.
// An absent or destroyed seed has zeros.
func (s Seed) Bytes() [Size]byte {
	if b := secret.Reveal(s.box); b != nil {
		return *b
	}
	return [Size]byte{}
}

// Extract returns the seed HKDF-Extract(SHA-256, salt, contributions joined in
// their order) (RFC 5869). Every contribution has 32 bytes, so that no two lists
// join to the same bytes; another length is an error.
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

// Derive returns HKDF-Expand(SHA-256, seed, "cosketch/1/" + label), 32 bytes: keys
// of different labels tell nothing about each other or the seed. It fails with
// ErrAbsent on an absent or destroyed seed.
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

// Destroy overwrites the secret of this seed and all its copies with zeros. Keys
// derived before are not reached.
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

// Equal reports in constant time whether two seeds hold the same secret.
func (s Seed) Equal(t Seed) bool {
	a, b := s.Bytes(), t.Bytes()
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
