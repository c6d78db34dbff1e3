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

// Kept is some of a seed's keys, for what is computed when the seed itself is destroyed.
// It tells nothing of the seed's other keys. The zero Kept has none. Nothing prints or
// encodes it but Bytes: see secret.Of.
type Kept struct{ keyBox }

type keyBox = secret.Of[map[Label][Size]byte]

// Keep derives the keys of some labels.
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

// keys are those that were kept; nil of the zero Kept.
func (k Kept) keys() map[Label][Size]byte {
	if keys := secret.Reveal(k.keyBox); keys != nil {
		return *keys
	}
	return nil
}

// Keys derives the keys of a study: its seed, or what was kept of it.
type Keys interface {
	Derive(Label) ([32]byte, error)
}

// Derive returns the key of a label, as the seed would. It fails with ErrAbsent where that
// was not kept.
func (k Kept) Derive(label Label) (key [32]byte, err error) {
	if key, ok := k.keys()[label]; ok {
		return key, nil
	}
	return key, fmt.Errorf("deriving %s from what was kept: %w", label, ErrAbsent)
}

// keptHead begins the bytes of a Kept.
const keptHead = "cosketch kept keys/1\n"

// Bytes returns the keys, for the file of its own that holds them and nothing else: a
// line each.
func (k Kept) Bytes() []byte {
	keys, out := k.keys(), []byte(keptHead)
	for _, label := range slices.Sorted(maps.Keys(keys)) {
		out = fmt.Appendf(out, "%x %s\n", keys[label], label)
	}
	return out
}

var errKept = errors.New("the file of kept keys is damaged")

// ParseKept reads what Bytes wrote.
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
