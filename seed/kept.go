package seed

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/seed/secret"
)

// Kept holds some of a seed's keys, for computations after the seed was destroyed. It reveals
// nothing about the seed's other keys. The zero Kept has none. It is never printed, and encoded
// only by Bytes, see secret.Of.
type Kept struct{ keyBox }

type keyBox = secret.Of[map[Label][Size]byte]

// Keep derives the keys of the given labels.
func (s Seed) Keep(labels ...Label) (Kept, error) {
	keys := map[Label][Size]byte{}
	for _, label := range labels {
		key, err := s.Derive(label)
		if err != nil {
			return Kept{}, fmt.Errorf("keeping keys: %w", err)
		}
		keys[label] = key
	}
	return keep(keys), nil
}

func keep(keys map[Label][Size]byte) Kept { return Kept{secret.New(keys)} }

// keys returns the kept keys; nil for the zero Kept.
func (k Kept) keys() map[Label][Size]byte {
	if keys := secret.Reveal(k.keyBox); keys != nil {
		return *keys
	}
	return nil
}

// Keys derives the keys of a study: it is a Seed or a Kept.
type Keys interface {
	Derive(Label) ([32]byte, error)
}

// Derive returns the key of a label, as the seed would. It returns ErrAbsent if the key was not
// kept.
func (k Kept) Derive(label Label) (key [32]byte, err error) {
	if key, ok := k.keys()[label]; ok {
		return key, nil
	}
	return key, fmt.Errorf("deriving %s from what was kept: %w", label, ErrAbsent)
}

// keptHead is the first line of the encoding of a Kept.
const keptHead = "cosketch kept keys/1\n"

// Bytes encodes the keys, one per line. They must be stored in a file of their own.
func (k Kept) Bytes() []byte {
	keys, out := k.keys(), []byte(keptHead)
	for _, label := range slices.Sorted(maps.Keys(keys)) {
		out = fmt.Appendf(out, "%x %s\n", keys[label], label)
	}
	return out
}

var errKept = errors.New("the file of kept keys is damaged")

// ParseKept decodes the output of Bytes.
func ParseKept(text []byte) (Kept, error) {
	rest, ok := bytes.CutPrefix(text, []byte(keptHead))
	if !ok {
		return Kept{}, errKept
	}
	keys := map[Label][Size]byte{}
	for line := range strings.Lines(string(rest)) {
		digits, label, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		key, err := hex.DecodeString(digits)
		if !ok || err != nil || len(key) != Size {
			return Kept{}, errKept
		}
		keys[Label(label)] = [Size]byte(key)
	}
	return keep(keys), nil
}
