package release

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
)

// If the noise for every length but the least is too large to draw, a party with its own clip still
// releases the index of its length. The release has the shape that its header is checked against.
func TestOwnClipOfOneLength(t *testing.T) {
	s := momentStudy(t, `bits: 12
records: {id: [patient]}
columns:
  - {name: a, kind: numeric, centre: 0, spread: 1}
  - {name: b, kind: numeric, centre: 0, spread: 1}
  - {name: c, kind: numeric, centre: 0, spread: 1}
  - {name: d, kind: numeric, centre: 0, spread: 1}
  - {name: e, kind: numeric, centre: 0, spread: 1}
sketches: [{side: moments, clip: own}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: mean}, {kind: correlation}]
`)
	p, err := For(s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Moments.Clips) != 1 {
		t.Fatalf("lengths %v: the test wants one", p.Moments.Clips)
	}
	b, err := p.NewBuilder(nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	const records = 100
	values := make([]int64, records*p.Values)
	for i := range values {
		values[i] = int64(i%5) << 12 // some records are longer
	}
	if err := b.AddRead(make([][]byte, records), values); err != nil {
		t.Fatal(err)
	}
	e := b.Exact()
	if rows, cols := p.ExactShape(records); int64(e.Sketch.Rows) != rows || int64(e.Sketch.Cols) != cols {
		t.Errorf("the exact sketch is %s, and to be %d × %d", e.Sketch, rows, cols)
	}
	cut := e.Clipped
	if err := e.Draw(p, rand.NewChaCha8([32]byte{1}), 1); err != nil {
		t.Fatal(err)
	}
	if e.Clipped != cut || cut == 0 {
		t.Errorf("%d records were cut, and %d before noise", e.Clipped, cut)
	}
	header, data, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckHeader(s, 0, protocol.Release{Records: records, Sketches: []protocol.ReleasedSketch{header}}); err != nil {
		t.Error(err)
	}
	decoded, err := Decode(header, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if m, err := p.Summed(decoded); err != nil || m.Clip != p.Moments.Clips[0] {
		t.Errorf("clip %d, %v", m.Clip, err)
	}
}

// Check verifies the numbers before the sums when a release arrives, while its party can be told,
// just as reading it does.
func TestCheckReadsWhatStandsBeforeSums(t *testing.T) {
	s := momentStudy(t, `records: {id: [patient]}
columns:
  - {name: a, kind: numeric, bounds: [0, 1]}
  - {name: b, kind: numeric, centre: 0, spread: 1}
sketches: [{side: moments, clip: own, standardise: own}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: mean}, {kind: correlation}]
`)
	p, err := For(s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	one, last := s.Bits.One(), int64(len(p.Moments.Clips)-1)
	honest := []int64{last, 8 * one, 4 * one, 0, 16 * one}
	if p.prefix() != len(honest) {
		t.Fatalf("%d numbers before the sums", p.prefix())
	}
	for _, c := range []struct {
		at   int
		to   int64
		says string // empty: it is accepted
	}{
		{0, 0, ""}, {2, 1, ""}, {1, -64 * one, ""},
		{0, -1, "clip number -1"}, {0, last + 1, "clip number"}, {0, 1 << 40, "clip number 1099511627776"},
		{2, 0, "entry 1"}, {2, -1, "entry 1"}, {2, 64*one + 1, "entry 1"}, {1, 64*one + 1, "entry 1"}, {3, -64*one - 1, "entry 2"},
	} {
		_, cols := p.Shape(1)
		released := sketch.Sketch{Side: sketch.Moments, Rows: 1, Cols: int(cols), Data: make([]int64, cols)}
		copy(released.Data, honest)
		released.Data[c.at] = c.to
		header, data, err := Encode(released)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := Decode(header, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		_, read := p.Summed(decoded)
		for what, err := range map[string]error{"Check": p.Check(header, bytes.NewReader(data)), "Summed": read} {
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s of %d in place %d: %v", what, c.to, c.at, err)
			}
		}
	}
}

// A stored look that no party wrote is refused, and the error quotes it.
func TestDecodeLookRefuses(t *testing.T) {
	good := sketch.Standard{Centre: -5, Spread: 16}
	for _, c := range []struct {
		data []byte
		says string
	}{
		{make([]byte, 15), "15 bytes"}, {make([]byte, 16), "entry 1 is moved by 0 and scaled by 0"},
		{EncodeLook([]sketch.Standard{good, {Centre: 1 << 40, Spread: 1}}), "entry 2 is moved by 1099511627776"},
		{EncodeLook([]sketch.Standard{good, {Centre: -1 << 63, Spread: 1}}), "entry 2"},
		{EncodeLook([]sketch.Standard{{Spread: 1<<63 - 1}}), "scaled by 9223372036854775807"},
		{EncodeLook([]sketch.Standard{{Spread: -1}}), "scaled by -1"},
	} {
		if moves, err := DecodeLook(c.data); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, %v: want %q", moves, err, c.says)
		}
	}
	if moves, err := DecodeLook(EncodeLook([]sketch.Standard{good})); err != nil || len(moves) != 1 || moves[0] != good {
		t.Errorf("%v, %v", moves, err)
	}
}
