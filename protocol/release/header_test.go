package release_test

import (
	"bytes"
	"crypto/sha256"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
)

// largest is the largest entry that Decode accepts; the sum of 64 of them fits an int64.
const largest = 1<<56 - 1

func TestEncodeDecodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sketch.Sketch{
			Side: rapid.SampledFrom([]sketch.Side{sketch.Columns, sketch.Records}).Draw(t, "side"),
			Rows: rapid.IntRange(1, 9).Draw(t, "rows"),
			Cols: rapid.IntRange(1, 9).Draw(t, "cols"),
		}
		reach := int64(1)<<rapid.IntRange(0, 56).Draw(t, "bits") - 1
		s.Data = rapid.SliceOfN(rapid.Int64Range(-reach, reach), s.Rows*s.Cols, s.Rows*s.Cols).Draw(t, "data")
		header, data, err := release.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if header.Size() != int64(len(data)) || len(header.Chunks) != 1 || header.Chunks[0] != sha256.Sum256(data) {
			t.Fatalf("header %+v of %d bytes", header, len(data))
		}
		back, err := release.Decode(header, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, s) {
			t.Fatal("another sketch came back")
		}
	})
}

// TestChunks: each chunk but the last has the chunk size, and the last has the rest.
func TestChunks(t *testing.T) {
	s := sketch.Sketch{Side: sketch.Columns, Rows: 1 << 20, Cols: 5, Data: make([]int64, 5<<20)}
	rng := rand.New(rand.NewPCG(1, 10))
	for i := range s.Data {
		s.Data[i] = int64(int8(rng.Uint64()))
	}
	header, data, err := release.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	var want []protocol.Digest
	for chunk := range slices.Chunk(data, protocol.ChunkSize) {
		want = append(want, sha256.Sum256(chunk))
	}
	if len(want) != 2 || !slices.Equal(header.Chunks, want) || header.Size() != 5<<20 {
		t.Errorf("%d chunks of %d bytes in all", len(header.Chunks), header.Size())
	}
}

func TestEncodeRefusesNoSketch(t *testing.T) {
	for _, s := range []sketch.Sketch{
		{},
		{Side: sketch.Records, Rows: 0, Cols: 4},
		{Side: sketch.Columns, Rows: 2, Cols: 2, Data: make([]int64, 3)},
	} {
		if _, _, err := release.Encode(s); err == nil {
			t.Errorf("encoded %v of %d entries", s, len(s.Data))
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	fits := protocol.ReleasedSketch{Side: sketch.Columns, Rows: 1, Cols: 2, Width: 1}
	wide := protocol.ReleasedSketch{Side: sketch.Columns, Rows: 1, Cols: 1, Width: 8}
	with := func(h protocol.ReleasedSketch, change func(*protocol.ReleasedSketch)) protocol.ReleasedSketch {
		change(&h)
		return h
	}
	for _, test := range []struct {
		what   string
		header protocol.ReleasedSketch
		data   []byte
		want   string // empty: accepted
	}{
		{"as it should be", fits, []byte{1, 255}, ""},
		{"a byte is missing", fits, []byte{1}, "1 bytes for 1 × 2"},
		{"a byte is left over", fits, []byte{1, 2, 3}, "more than 2 bytes for 1 × 2"},
		{"no data", fits, nil, "0 bytes for 1 × 2"},
		{"unknown side", with(fits, func(h *protocol.ReleasedSketch) { h.Side = "rows" }), []byte{1, 2}, "unknown side"},
		{"width 0", with(fits, func(h *protocol.ReleasedSketch) { h.Width = 0 }), nil, "entries of 0 bytes"},
		{"width 9", with(fits, func(h *protocol.ReleasedSketch) { h.Width = 9 }), make([]byte, 18), "entries of 9 bytes"},
		{"written wider than it must be", with(fits, func(h *protocol.ReleasedSketch) { h.Width = 2 }), []byte{1, 0, 2, 0}, "written 2 bytes wide where 1 suffice"},
		{"wider by the sign alone", with(fits, func(h *protocol.ReleasedSketch) { h.Width = 2 }), []byte{128, 255, 0, 0}, "written 2 bytes wide where 1 suffice"},
		{"not wider than it must be", with(fits, func(h *protocol.ReleasedSketch) { h.Width = 2 }), []byte{128, 0, 0, 0}, ""},
		{"no rows", with(fits, func(h *protocol.ReleasedSketch) { h.Rows = 0 }), nil, "0 × 2"},
		{"negative shape", with(fits, func(h *protocol.ReleasedSketch) { h.Rows, h.Cols = -1, -2 }), []byte{1, 2}, "-1 × -2"},
		{"a shape that wraps", with(fits, func(h *protocol.ReleasedSketch) { h.Rows, h.Cols = 1<<62, 4 }), nil, "decoding sketch"},
		{"the largest entry", wide, le(largest), ""},
		{"the least entry", wide, le(-largest), ""},
		{"an entry too large", wide, le(largest + 1), "out of range"},
		{"an entry too small", wide, le(-largest - 1), "out of range"},
		{"the end of int64", wide, le(math.MinInt64), "out of range"},
	} {
		s, err := release.Decode(test.header, bytes.NewReader(test.data))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.what, err, test.want)
		}
		if (s.Data == nil) != (err != nil) {
			t.Errorf("%s: a sketch and an error, or neither", test.what)
		}
	}
}

// le is an 8-byte little-endian entry.
func le(v int64) []byte {
	out := make([]byte, 8)
	for i := range out {
		out[i] = byte(v >> (8 * i))
	}
	return out
}

// TestAllPartiesAddUp shows why entries are bounded: the sum over a study's full number of parties,
// each with the largest entries that Decode accepts, does not overflow.
func TestAllPartiesAddUp(t *testing.T) {
	for _, v := range []int64{largest, -largest} {
		parts := slices.Repeat([]sketch.Sketch{{Side: sketch.Columns, Rows: 1, Cols: 1, Data: []int64{v}}}, study.MostWhole)
		if _, err := sketch.Add(parts...); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckHeader(t *testing.T) {
	s := releasetest.Study(t, releasetest.Terms{
		Partition: study.Horizontal, Columns: []string{releasetest.Bounded, releasetest.Categorical}, Privacy: releasetest.Laplace,
		Sketches: []string{
			"{side: columns, family: sparse, k: 16, helpers: {ones: 1}}",
			"{side: records, family: rademacher, k: 8}",
		},
	})
	p := releasetest.Plan(t, s, 0)
	d := randomData(rand.New(rand.NewPCG(1, 11)), p, 20)
	made := protocol.Release{Records: 20}
	for i := range s.Sketches {
		header, _, err := release.Encode(exact(t, releasetest.Plan(t, s, i), releasetest.Seed(1), d))
		if err != nil {
			t.Fatal(err)
		}
		made.Sketches = append(made.Sketches, header)
	}
	for _, test := range []struct {
		what   string
		change func(*protocol.Release)
		want   string
	}{
		{"as it was made", func(*protocol.Release) {}, ""},
		{"other widths are the data's business", func(r *protocol.Release) { r.Sketches[0].Width, r.Sketches[1].Width = 8, 8 }, ""},
		{"one sketch too few", func(r *protocol.Release) { r.Sketches = r.Sketches[:1] }, "release of 1 sketches, the study has 2"},
		{"one too many", func(r *protocol.Release) { r.Sketches = append(r.Sketches, r.Sketches[0]) }, "release of 3 sketches, the study has 2"},
		{"none", func(r *protocol.Release) { r.Sketches = nil }, "release of 0 sketches, the study has 2"},
		{"in the wrong order", func(r *protocol.Release) { slices.Reverse(r.Sketches) }, "sketch 1 is of the records side, the study asks for columns"},
		{"no records", func(r *protocol.Release) { r.Records, r.Sketches[1].Rows = 0, 0 }, "release of 0 records"},
		{"negative records", func(r *protocol.Release) { r.Records, r.Sketches[1].Rows = -5, -5 }, "release of -5 records"},
		{"too many records", func(r *protocol.Release) { r.Records, r.Sketches[1].Rows = math.MaxInt32+1, math.MaxInt32+1 }, "at most 2147483647"},
		{"records and rows differ", func(r *protocol.Release) { r.Records = 21 }, "sketch 2 is 20 × 8, the study and 21 records make it 21 × 8"},
		{"another k", func(r *protocol.Release) { r.Sketches[0].Rows = 17 }, "sketch 1 is 17 × 5, the study and 20 records make it 16 × 5"},
		{"a column too many", func(r *protocol.Release) { r.Sketches[0].Cols++ }, "sketch 1 is 16 × 6"},
		{"transposed", func(r *protocol.Release) { r.Sketches[1].Rows, r.Sketches[1].Cols = 8, 20 }, "sketch 2 is 8 × 20"},
		{"too many bytes", func(r *protocol.Release) {
			r.Records, r.Sketches[1].Rows, r.Sketches[1].Width = math.MaxInt32, math.MaxInt32, 8
		}, "sketch 2 has 137438953408 bytes, at most 68719476736"},
	} {
		r := made
		r.Sketches = slices.Clone(made.Sketches)
		test.change(&r)
		err := release.CheckHeader(s, 0, r)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.what, err, test.want)
		}
	}
}

// TestShapeIsWhatBuildersMake compares plan, builder and header.
func TestShapeIsWhatBuildersMake(t *testing.T) {
	for _, shape := range shapes {
		s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded, releasetest.Categorical}, Privacy: releasetest.Laplace, Sketches: []string{shape.sketch + "}"}})
		p := releasetest.Plan(t, s, 0)
		got := exact(t, p, releasetest.Seed(1), randomData(rand.New(rand.NewPCG(1, 12)), p, 11))
		if rows, cols := p.Shape(11); int64(got.Rows) != rows || int64(got.Cols) != cols {
			t.Errorf("%s: %s, the plan says %d × %d", shape.name, got, rows, cols)
		}
	}
}

// FuzzDecode checks that Decode never panics, and that what it accepts encodes to the same bytes
// under the same header: a release has only one encoding.
func FuzzDecode(f *testing.F) {
	for _, seed := range []struct {
		side       string
		rows, cols int64
		width      int
		data       []byte
	}{
		{"columns", 1, 2, 1, []byte{1, 255}},
		{"records", 2, 2, 2, []byte{0, 1, 2, 3, 4, 5, 6, 7}},
		{"records", 1, 1, 8, le(largest)},
		{"columns", 1, 1, 8, le(math.MinInt64)},
		{"columns", 1 << 31, 1 << 31, 4, nil},
		{"", -1, -1, 0, []byte{0}},
	} {
		f.Add(seed.side, seed.rows, seed.cols, seed.width, seed.data)
	}
	f.Fuzz(func(t *testing.T, side string, rows, cols int64, width int, data []byte) {
		h := protocol.ReleasedSketch{Side: sketch.Side(side), Rows: rows, Cols: cols, Width: width}
		if err := (release.Plan{}).Check(h, bytes.NewReader(data)); err != nil {
			return
		}
		s, err := release.Decode(h, bytes.NewReader(data))
		if err != nil {
			if h.Side.Known() {
				t.Errorf("checked and not decoded: %v", err)
			}
			return
		}
		again, bytesAgain, err := release.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		again.Chunks = nil
		if !reflect.DeepEqual(again, h) || !bytes.Equal(bytesAgain, data) {
			t.Fatalf("%+v came back as %+v", h, again)
		}
	})
}
