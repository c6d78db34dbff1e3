package ledger

import (
	"errors"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
)

func TestVerifyChain(t *testing.T) {
	good := samples(t)
	if err := VerifyChain(good); err != nil {
		t.Fatal(err)
	}
	if err := VerifyChain(nil); err != nil {
		t.Errorf("an empty ledger: %v", err)
	}
	for _, c := range []struct {
		name  string
		spoil func([]Entry) []Entry
		at    uint64
	}{
		{"first entry missing", func(e []Entry) []Entry { return e[1:] }, 1},
		{"middle entry missing", func(e []Entry) []Entry { return slices.Delete(e, 1, 2) }, 2},
		{"entries swapped", func(e []Entry) []Entry { e[1], e[2] = e[2], e[1]; return e }, 2},
		{"epsilon lowered", func(e []Entry) []Entry { e[0].Epsilon /= 2; return e }, 2},
		{"mu lowered", func(e []Entry) []Entry { e[0].Mu /= 2; return e }, 2},
		{"salt changed", func(e []Entry) []Entry { e[1].Salt[31] ^= 1; return e }, 3},
		{"dataset renamed", func(e []Entry) []Entry { e[1].Dataset = "other"; return e }, 3},
		{"link cut", func(e []Entry) []Entry { e[2].Previous = protocol.Digest{}; return e }, 3},
		{"first entry linked", func(e []Entry) []Entry { e[0].Previous[0] = 1; return e }, 1},
		{"invalid last entry", func(e []Entry) []Entry { e[2].Attributes = 0; return e }, 3},
	} {
		err := VerifyChain(c.spoil(slices.Clone(good)))
		var broken *BrokenChain
		if !errors.As(err, &broken) || broken.Sequence != c.at {
			t.Errorf("%s: %v, want a break at entry %d", c.name, err, c.at)
		}
	}
}

// TestEveryFieldIsInTheHash changes one field at a time.
func TestEveryFieldIsInTheHash(t *testing.T) {
	e := samples(t)[0]
	seen := map[protocol.Digest]string{e.Hash(): "unchanged"}
	for name, change := range map[string]func(*Entry){
		"sequence":   func(e *Entry) { e.Sequence++ },
		"previous":   func(e *Entry) { e.Previous[0]++ },
		"salt":       func(e *Entry) { e.Salt[0]++ },
		"dataset":    func(e *Entry) { e.Dataset += "x" },
		"study":      func(e *Entry) { e.Study[0]++ },
		"sketch":     func(e *Entry) { e.Sketch++ },
		"unit":       func(e *Entry) { e.Unit = dp.Attribute },
		"mechanism":  func(e *Entry) { e.Mechanism = dp.None },
		"epsilon":    func(e *Entry) { e.Epsilon++ },
		"delta":      func(e *Entry) { e.Delta *= 2 },
		"mu":         func(e *Entry) { e.Mu *= 2 },
		"attributes": func(e *Entry) { e.Attributes++ },
		"time":       func(e *Entry) { e.At++ },
	} {
		changed := e
		change(&changed)
		if before, found := seen[changed.Hash()]; found {
			t.Errorf("changing %s gives the hash of %s", name, before)
		}
		seen[changed.Hash()] = name
	}
}

func TestAppendDebitsOnce(t *testing.T) {
	entries := samples(t)
	if _, err := Append(entries, entries[1]); err == nil {
		t.Error("one sketch of a study was debited twice")
	}
	again := entries[1]
	again.Sequence, again.Previous, again.Salt, again.At = 0, protocol.Digest{}, [32]byte{7}, again.At+9
	if e, found := Debited(entries, again); !found || e != entries[1] {
		t.Errorf("found %v (%v), want %v", e, found, entries[1])
	}
}

// A debit pays only for its own release, and above all not for another dataset that the steward put
// in the place of the first.
func TestADebitPaysForNothingElse(t *testing.T) {
	entries := samples(t)
	for name, change := range map[string]func(*Entry){
		"dataset": func(e *Entry) { e.Dataset += "2" }, "study": func(e *Entry) { e.Study[0]++ }, "sketch": func(e *Entry) { e.Sketch++ },
		"query": func(e *Entry) { e.Query++ }, "round": func(e *Entry) { e.Round++ }, "attributes": func(e *Entry) { e.Attributes++ },
		"ε": func(e *Entry) { e.Epsilon += .5 }, "unit": func(e *Entry) { e.Unit += "s" },
	} {
		last := entries[1]
		change(&last)
		if e, paid := Debited(entries, last); paid {
			t.Errorf("with another %s it is paid for by %v", name, e)
		}
		if got, err := Append(entries, last); err == nil && got.Sequence != uint64(len(entries))+1 {
			t.Errorf("with another %s: %v, %v", name, got, err)
		}
	}
}

// TestHeads: a head covers the debits for one aggregator, whatever was debited for others. A ledger
// that was cut off or diverged does not cover it.
func TestHeads(t *testing.T) {
	mine, other := protocol.PeerID{7}, protocol.PeerID{8}
	add := func(entries []Entry, study byte, to protocol.PeerID) []Entry {
		next := entry(study, 0, dp.Record, promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5}))
		next.Aggregator = to
		next, err := Append(entries, next)
		if err != nil {
			t.Fatal(err)
		}
		return append(entries[:len(entries):len(entries)], next)
	}
	empty := HeadFor(nil, mine)
	one := add(nil, 1, mine)
	two := add(add(one, 2, other), 3, mine)
	if empty != (Head{}) || HeadFor(one, other) != (Head{}) || HeadFor(one, mine).Count != 1 || HeadFor(two, mine).Count != 2 {
		t.Errorf("heads %v, %v, %v", empty, HeadFor(one, mine), HeadFor(two, mine))
	}
	if HeadFor(add(one, 2, other), mine) != HeadFor(one, mine) {
		t.Error("a debit for another aggregator changes the head")
	}
	if HeadFor(two, mine) == HeadFor(add(one, 3, mine), mine) {
		t.Error("the head does not bind the entries between")
	}
	for _, c := range []struct {
		name    string
		entries []Entry
		head    Head
		want    bool
	}{
		{"empty", nil, empty, true}, {"before", two, HeadFor(one, mine), true}, {"its own", two, HeadFor(two, mine), true},
		{"cut off", one, HeadFor(two, mine), false}, {"gone", nil, HeadFor(one, mine), false},
		{"another way", add(add(one, 4, other), 3, mine), HeadFor(two, mine), false},
	} {
		if got := Covers(c.entries, mine, c.head); got != c.want {
			t.Errorf("%s: covers is %v", c.name, got)
		}
	}
}
