package agree

import (
	"errors"
	"testing"

	"github.com/cosketch/cosketch/seed"
)

// A confirmation commits to the row keys that will be public. A confirmation of other keys is
// detected by everyone who has the seed, and by everybody once the attempt is opened.
func TestPublishedKeysAreConfirmed(t *testing.T) {
	g := group(3)
	g.Publish = []seed.Label{seed.ColumnRows, seed.HadamardPermutation}
	a := shared(t, g)
	o := a.open(t, 0)
	for i, m := range a.group.Members {
		c, err := a.open(t, i).Confirm(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Published) != 2 || c.Published[0] == c.Published[1] {
			t.Fatalf("member %d confirms %x", i, c.Published)
		}
		for j, label := range a.group.Publish {
			key, err := o.Seed.Derive(label)
			if err != nil {
				t.Fatal(err)
			}
			if c.Published[j] != PublishedHash(label, key) {
				t.Errorf("member %d confirms another key of %s", i, label)
			}
		}
		if err := o.Check(m, c); err != nil {
			t.Errorf("member %d: %v", i, err)
		}
		for name, wrong := range map[string]func(*Confirm){
			"another key":        func(c *Confirm) { c.Published[1][5] ^= 1 },
			"keys in disorder":   func(c *Confirm) { c.Published[0], c.Published[1] = c.Published[1], c.Published[0] },
			"one key of two":     func(c *Confirm) { c.Published = c.Published[:1] },
			"a key that is none": func(c *Confirm) { c.Published = append(c.Published, [32]byte{}) },
		} {
			bad := c
			bad.Published = append([][32]byte(nil), c.Published...)
			wrong(&bad)
			if err := o.Check(m, bad); !errors.Is(err, ErrPublished) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if PublishedHash(seed.ColumnRows, [32]byte{}) == PublishedHash(seed.CellRows, [32]byte{}) {
		t.Error("one hash for two labels")
	}
}

// Without the seed, no key is confirmed.
func TestPublishingNeedsTheSeed(t *testing.T) {
	g := group(3)
	g.Publish = []seed.Label{seed.ColumnRows}
	o := shared(t, g).open(t, 0)
	o.Seed.Destroy()
	if got, err := o.published(); !errors.Is(err, seed.ErrAbsent) || got != nil {
		t.Errorf("%x, %v", got, err)
	}
}
