package seed_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/seed"
)

// A Kept gives the same keys as the seed, also after the seed is destroyed and the bytes were
// stored. It gives no other keys.
func TestKept(t *testing.T) {
	root := seed.FromBytes([seed.Size]byte{1, 2, 3})
	want, err := root.Derive(seed.ColumnRows)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := root.Keep(seed.ColumnRows, seed.HadamardPermutation)
	if err != nil {
		t.Fatal(err)
	}
	root.Destroy()
	stored := kept.Bytes()
	read, err := seed.ParseKept(stored)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []seed.Kept{kept, read} {
		if got, err := k.Derive(seed.ColumnRows); err != nil || got != want {
			t.Errorf("another key (%v)", err)
		}
		for _, label := range []seed.Label{seed.RecordRows, seed.Pseudonyms, seed.Confirm} {
			if _, err := k.Derive(label); !errors.Is(err, seed.ErrAbsent) {
				t.Errorf("%s: %v", label, err)
			}
		}
	}
	if string(read.Bytes()) != string(stored) {
		t.Error("read keys are written otherwise")
	}
	if _, err := root.Keep(seed.ColumnRows); !errors.Is(err, seed.ErrAbsent) {
		t.Errorf("of a destroyed seed: %v", err)
	}
	digits := fmt.Sprintf("%x", want)
	type holder struct{ kept seed.Kept }
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		for _, v := range []any{kept, &kept, holder{kept}} {
			if text := fmt.Sprintf(verb, v); strings.Contains(strings.ToLower(text), digits[:8]) {
				t.Errorf("%s prints the key", verb)
			}
		}
	}
	if _, err := json.Marshal(kept); err == nil {
		t.Error("kept keys were marshalled")
	}
	var none seed.Kept
	if _, err := none.Derive(seed.ColumnRows); !errors.Is(err, seed.ErrAbsent) {
		t.Errorf("of nothing: %v", err)
	}
}

func TestParseKeptRefuses(t *testing.T) {
	root := seed.FromBytes([seed.Size]byte{1})
	kept, err := root.Keep(seed.ColumnRows)
	if err != nil {
		t.Fatal(err)
	}
	good := string(kept.Bytes())
	for _, text := range []string{"", "keys", good[:len(good)-20], strings.Replace(good, " ", "", 1), strings.Replace(good, "\n", "\n00", 1), good + "x"} {
		if _, err := seed.ParseKept([]byte(text)); err == nil {
			t.Errorf("read %d bytes that are damaged", len(text))
		}
	}
}
