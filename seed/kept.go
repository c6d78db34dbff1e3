package seed

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Kept is some of a seed's keys, for what is computed when the seed itself is destroyed.
// It tells nothing of the seed's other keys. The zero Kept has none. Like a Seed it
// prints as a fixed text and has no other encoding than Bytes.
type Kept struct {
	// keys is behind a pointer to a pointer: see Seed.
	keys **map[Label][Size]byte
}

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

func keep(keys map[Label][Size]byte) Kept {
	one := &keys
	return Kept{keys: &one}
}

// Derive returns the key of a label, as the seed would. It fails with ErrAbsent where that
// was not kept.
func (k Kept) Derive(label Label) (key [32]byte, err error) {
	if k.keys != nil {
		if key, ok := (**k.keys)[label]; ok {
			return key, nil
		}
	}
	return key, fmt.Errorf("deriving %s from what was kept: %w", label, ErrAbsent)
}

// keptHead begins the bytes of a Kept.
const keptHead = "cosketch kept keys/1\n"

// Bytes returns the keys, for the file of its own that holds them and nothing else: a
// line each.
func (k Kept) Bytes() []byte {
	out := []byte(keptHead)
	if k.keys == nil {
		return out
	}
	var labels []Label
	for label := range **k.keys {
		labels = append(labels, label)
	}
	slices.Sort(labels)
	for _, label := range labels {
		out = fmt.Appendf(out, "%x %s\n", (**k.keys)[label], label)
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

const keptRedacted = "kept keys (secret)"

// String returns a fixed text.
func (k Kept) String() string { return keptRedacted }

// GoString returns a fixed text.
func (k Kept) GoString() string { return keptRedacted }

// Format writes a fixed text for every verb.
func (k Kept) Format(state fmt.State, _ rune) { io.WriteString(state, keptRedacted) }

// MarshalJSON always fails.
func (k Kept) MarshalJSON() ([]byte, error) { return nil, errPrinted }

// MarshalText always fails.
func (k Kept) MarshalText() ([]byte, error) { return nil, errPrinted }
