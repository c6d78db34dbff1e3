package journal

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func chain(t *testing.T, entries ...Entry) [][]byte {
	t.Helper()
	var raws [][]byte
	var last []byte
	for _, e := range entries {
		raw, err := Append(last, e)
		if err != nil {
			t.Fatal(err)
		}
		raws, last = append(raws, raw), raw
	}
	return raws
}

func sample(t *testing.T) [][]byte {
	return chain(t,
		Entry{At: 100, Event: Created},
		Entry{At: 110, Event: Approved, Study: strings.Repeat("5f", 32)},
		Entry{At: 120, Event: Uploaded, Study: strings.Repeat("5f", 32), To: "12D3KooW", Bytes: 81920},
		Entry{At: 130, Event: Exported, Bytes: 5000, Note: "a <b> & c"})
}

func TestChain(t *testing.T) {
	raws := sample(t)
	entries, err := Verify(raws)
	if err != nil || len(entries) != 4 {
		t.Fatalf("%v, %v", entries, err)
	}
	if e := entries[2]; e.Sequence != 3 || e.Bytes != 81920 || e.Event != Uploaded || e.Previous != Hash(raws[1]).String() {
		t.Errorf("%+v", e)
	}
	// The bytes are pinned: a log must stay readable in later versions of this program.
	if got, want := Hash(raws[3]).String(), "c79e9913e7fc3f412c22e26c5a83dcb5e8bd0a787c5733d3fd769a85c75acba4"; got != want {
		t.Errorf("head %s, want %s", got, want)
	}
}

// Verify notices every change of a log, except a cut at its end, and says where.
func TestTampering(t *testing.T) {
	for name, c := range map[string]struct {
		tamper func([][]byte) [][]byte
		at     uint64
	}{
		"an entry is changed": {func(r [][]byte) [][]byte {
			r[2] = []byte(strings.Replace(string(r[2]), "81920", "8192", 1))
			return r
		}, 4},
		"the last entry is replaced by a damaged one": {func(r [][]byte) [][]byte { r[3] = r[3][:20]; return r }, 4},
		"one is taken out":                            {func(r [][]byte) [][]byte { return slices.Delete(r, 1, 2) }, 2},
		"the first is taken out":                      {func(r [][]byte) [][]byte { return r[1:] }, 1},
		"two are exchanged":                           {func(r [][]byte) [][]byte { r[1], r[2] = r[2], r[1]; return r }, 2},
		"one is put in":                               {func(r [][]byte) [][]byte { return slices.Insert(r, 1, r[0]) }, 2},
		"a field is added":                            {func(r [][]byte) [][]byte { r[0] = []byte(strings.Replace(string(r[0]), "{", `{"x":1,`, 1)); return r }, 1},
		"a second document in one entry":              {func(r [][]byte) [][]byte { r[3] = append(slices.Clone(r[3]), r[3]...); return r }, 4},
		"the head of another log of equal length": {func(r [][]byte) [][]byte {
			other := sample(t)
			raw, _ := Append(nil, Entry{At: 99, Event: Created})
			raw, _ = Append(raw, Entry{At: 99, Event: Declined})
			other[1] = raw
			return other
		}, 2},
	} {
		entries, err := Verify(c.tamper(sample(t)))
		var broken *Broken
		if !errors.As(err, &broken) || broken.Sequence != c.at || uint64(len(entries)) != c.at-1 {
			t.Errorf("%s: %d entries, %v, want an error at %d", name, len(entries), err, c.at)
		}
	}
	if _, err := Append([]byte("{"), Entry{}); err == nil {
		t.Error("appended to a damaged entry")
	}
	if _, err := Verify(nil); err != nil {
		t.Errorf("an empty log: %v", err)
	}
}
