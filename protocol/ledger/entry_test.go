package ledger

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
)

func promise(t testing.TB, m dp.Mechanism, b dp.Budget) dp.Guarantee {
	t.Helper()
	g, err := dp.Promise(m, b)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// entry returns a valid entry that was not appended yet.
func entry(study byte, sketch int, unit dp.Unit, g dp.Guarantee) Entry {
	return Entry{
		Salt:       [32]byte{study, 1, 2, 3},
		Dataset:    "registry",
		Study:      protocol.StudyID{study},
		Aggregator: protocol.PeerID{7},
		Sketch:     sketch,
		Unit:       unit,
		Attributes: 3,
		At:         1_790_000_000,
	}.Promised(g)
}

func samples(t testing.TB) []Entry {
	return chain(t,
		entry(1, 0, dp.Record, promise(t, dp.Gaussian, dp.Budget{Epsilon: 1, Delta: 1e-6})),
		entry(1, 1, dp.Attribute, promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5})),
		entry(2, 0, dp.Record, promise(t, dp.None, dp.Budget{})),
	)
}

func chain(t testing.TB, next ...Entry) (entries []Entry) {
	t.Helper()
	for _, e := range next {
		appended, err := Append(entries, e)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, appended)
	}
	return entries
}

func TestEncodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, err := dp.Promise(dp.Gaussian, dp.Budget{
			Epsilon: dp.Epsilon(rapid.Float64Range(0.01, 100).Draw(t, "epsilon")),
			Delta:   dp.Delta(rapid.Float64Range(1e-12, 0.1).Draw(t, "delta")),
		})
		if err != nil {
			t.Fatal(err)
		}
		e := Entry{
			Sequence:   rapid.Uint64Min(1).Draw(t, "sequence"),
			Previous:   protocol.Digest(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "previous")),
			Salt:       [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "salt")),
			Dataset:    rapid.StringMatching(`[a-zé]{1,20}`).Draw(t, "dataset"),
			Study:      protocol.StudyID(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "study")),
			Aggregator: protocol.PeerID(rapid.SliceOfN(rapid.ByteMin(1), 32, 32).Draw(t, "aggregator")),
			Sketch:     rapid.IntRange(0, MaxSketch-1).Draw(t, "sketch"),
			Query:      rapid.IntRange(0, MaxQuery-1).Draw(t, "query"),
			Unit:       rapid.SampledFrom([]dp.Unit{dp.Attribute, dp.Record}).Draw(t, "unit"),
			Attributes: rapid.IntRange(1, MaxAttributes).Draw(t, "attributes"),
			At:         protocol.Instant(rapid.Int64Min(0).Draw(t, "at")),
		}.Promised(g)
		encoded, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := DecodeEntry(encoded)
		if err != nil || decoded != e {
			t.Fatalf("decoded %+v, want %+v (%v)", decoded, e, err)
		}
		for cut := range encoded {
			if _, err := DecodeEntry(encoded[:cut]); err == nil {
				t.Fatalf("%d of %d bytes decode", cut, len(encoded))
			}
		}
		if _, err := DecodeEntry(append(encoded, 0)); err == nil {
			t.Fatal("a trailing byte was accepted")
		}
	})
}

// spoilt has changes that each put one field out of range.
var spoilt = map[string]func(*Entry){
	"sequence":            func(e *Entry) { e.Sequence = 0 },
	"no dataset":          func(e *Entry) { e.Dataset = "" },
	"long dataset":        func(e *Entry) { e.Dataset = string(make([]byte, MaxDataset+1)) },
	"dataset not UTF-8":   func(e *Entry) { e.Dataset = "\xff" },
	"no aggregator":       func(e *Entry) { e.Aggregator = protocol.PeerID{} },
	"sketch":              func(e *Entry) { e.Sketch = -1 },
	"sketch too high":     func(e *Entry) { e.Sketch = MaxSketch },
	"query":               func(e *Entry) { e.Query = -1 },
	"query too high":      func(e *Entry) { e.Query = MaxQuery },
	"round too high":      func(e *Entry) { e.Round = MaxRound },
	"unit":                func(e *Entry) { e.Unit = "row" },
	"mechanism":           func(e *Entry) { e.Mechanism = "" },
	"no attributes":       func(e *Entry) { e.Attributes = 0 },
	"too many attributes": func(e *Entry) { e.Attributes = MaxAttributes + 1 },
	"time":                func(e *Entry) { e.At = -1 },
	"no epsilon":          func(e *Entry) { e.Epsilon = 0 },
	"negative epsilon":    func(e *Entry) { e.Epsilon = -1 },
	"epsilon NaN":         func(e *Entry) { e.Epsilon = dp.Epsilon(math.NaN()) },
	"infinite mu":         func(e *Entry) { e.Mu = dp.Mu(math.Inf(1)) },
	"no mu":               func(e *Entry) { e.Mu = 0 },
	"delta 1":             func(e *Entry) { e.Delta = 1 },
	"laplace with delta":  func(e *Entry) { e.Mechanism, e.Mu = dp.Laplace, 0 },
	"laplace with mu":     func(e *Entry) { e.Mechanism, e.Delta = dp.Laplace, 0 },
	"none with epsilon":   func(e *Entry) { e.Mechanism, e.Delta, e.Mu = dp.None, 0, 0 },
	"laplace, delta -0": func(e *Entry) {
		e.Mechanism, e.Mu, e.Delta = dp.Laplace, 0, dp.Delta(math.Copysign(0, -1))
	},
}

func TestSpoiltEntriesAreRefused(t *testing.T) {
	for name, spoil := range spoilt {
		e := samples(t)[0]
		spoil(&e)
		if _, err := e.Encode(); err == nil {
			t.Errorf("%s: it encodes", name)
		}
		// The numbers after the last sketch encode queries, so these bytes are valid.
		if _, err := DecodeEntry(e.encode()); err == nil && name != "sketch too high" {
			t.Errorf("%s: it decodes", name)
		}
		if e.Sequence = 1; name != "sequence" {
			if _, err := Append(nil, e); err == nil {
				t.Errorf("%s: it was appended", name)
			}
		}
	}
}

// TestEncodingIsPinned pins the bytes: ledgers must stay readable in later versions.
func TestEncodingIsPinned(t *testing.T) {
	first := entry(1, 0, dp.Record, dp.Guarantee{})
	first.Mechanism, first.Epsilon, first.Delta, first.Mu = dp.Gaussian, 1, 1e-6, 0.236
	entries := chain(t, first, entry(1, 1, dp.Attribute, promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5})))
	const want = "d0a50a6d8d3ba46eac4ad93bda6156ef5bbf7d62a369313153c9946126fe4719"
	if got := entries[1].Hash().String(); got != want {
		t.Errorf("the chain's head is %s, want %s", got, want)
	}
}

func FuzzDecodeEntry(f *testing.F) {
	for _, e := range samples(f) {
		encoded, err := e.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded)
	}
	f.Add([]byte(version))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, encoded []byte) {
		e, err := DecodeEntry(encoded)
		if err != nil {
			return
		}
		again, err := e.Encode()
		if err != nil || !bytes.Equal(again, encoded) {
			t.Fatalf("%x decodes but encodes to %x (%v)", encoded, again, err)
		}
	})
}
