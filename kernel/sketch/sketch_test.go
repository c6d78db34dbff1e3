package sketch

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func shaped(side Side, rows, cols int) Sketch {
	return Sketch{Side: side, Rows: rows, Cols: cols, Data: make([]int64, rows*cols)}
}

func TestMergeRefuses(t *testing.T) {
	c23, c33, r23, r24 := shaped(Columns, 2, 3), shaped(Columns, 3, 3), shaped(Records, 2, 3), shaped(Records, 2, 4)
	short := Sketch{Side: Columns, Rows: 2, Cols: 3, Data: make([]int64, 5)}
	for _, c := range []struct {
		name, want string
		merge      func(...Sketch) (Sketch, error)
		parts      []Sketch
	}{
		{"nothing stacked", "no sketch", Stack, nil},
		{"nothing added", "no sketch", Add, nil},
		{"stack, other k of columns", "sketch 2 is a columns sketch of 3 × 3, the first a columns sketch of 2 × 3: k differs", Stack, []Sketch{c23, c33}},
		{"stack, other k of records", "k differs", Stack, []Sketch{r23, r24}},
		{"stack, other side", "sketch 2 is a records", Stack, []Sketch{c23, r23}},
		{"add, other shape", "sketch 3 is", Add, []Sketch{r23, r23, r24}},
		{"add, other side", "sketch 2 is", Add, []Sketch{r23, c23}},
		{"stack, data missing", "5 entries, want 6", Stack, []Sketch{c23, short}},
		{"add, data missing", "5 entries, want 6", Add, []Sketch{short}},
		{"stack, no side", "unknown side", Stack, []Sketch{{Rows: 1, Cols: 1, Data: make([]int64, 1)}}},
		{"add, empty", "is empty", Add, []Sketch{{Side: Records}}},
		{"add, negative", "is empty", Add, []Sketch{{Side: Records, Rows: -1, Cols: -1, Data: make([]int64, 1)}}},
		{"add, enormous", "too large", Add, []Sketch{{Side: Records, Rows: math.MaxInt, Cols: math.MaxInt}}},
	} {
		if _, err := c.merge(c.parts...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestAddRefusesOverflow(t *testing.T) {
	one := func(v int64) Sketch { return Sketch{Side: Columns, Rows: 1, Cols: 1, Data: []int64{v}} }
	for _, c := range []struct {
		a, b int64
		ok   bool
	}{
		{math.MaxInt64, 0, true}, {math.MaxInt64, math.MinInt64, true}, {math.MaxInt64 - 1, 1, true}, {math.MinInt64 + 1, -1, true},
		{math.MaxInt64, 1, false}, {1, math.MaxInt64, false}, {math.MinInt64, -1, false}, {-1, math.MinInt64, false}, {math.MinInt64, math.MinInt64, false},
	} {
		s, err := Add(one(c.a), one(c.b))
		if (err == nil) != c.ok || c.ok && s.Data[0] != c.a+c.b {
			t.Errorf("%d + %d: %v, %v", c.a, c.b, s.Data, err)
		}
	}
}

func TestSubtractRefuses(t *testing.T) {
	c23, short := shaped(Columns, 2, 3), Sketch{Side: Columns, Rows: 2, Cols: 3, Data: make([]int64, 5)}
	for _, c := range []struct {
		name, want  string
		whole, part Sketch
	}{
		{"other shape", "a columns sketch of 3 × 2 from a columns sketch of 2 × 3", c23, shaped(Columns, 3, 2)},
		{"other side", "a records sketch", c23, shaped(Records, 2, 3)},
		{"whole without data", "sketch 1: columns sketch of 2 × 3 has 5 entries, want 6", short, c23},
		{"part without data", "sketch 2", c23, short},
		{"nothing", "unknown side", Sketch{}, Sketch{}},
	} {
		if _, err := Subtract(c.whole, c.part); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestSubtractRefusesOverflow(t *testing.T) {
	one := func(v int64) Sketch { return Sketch{Side: Columns, Rows: 1, Cols: 1, Data: []int64{v}} }
	for _, c := range []struct {
		a, b int64
		ok   bool
	}{
		{math.MinInt64, 0, true}, {math.MinInt64, math.MinInt64, true}, {math.MaxInt64, math.MaxInt64, true}, {-1, math.MinInt64, true},
		{math.MinInt64, 1, false}, {-2, math.MaxInt64, false}, {math.MaxInt64, -1, false}, {0, math.MinInt64, false}, {math.MaxInt64, math.MinInt64, false},
	} {
		whole, part := one(c.a), one(c.b)
		s, err := Subtract(whole, part)
		if (err == nil) != c.ok || err == nil && s.Data[0] != c.a-c.b {
			t.Errorf("%d - %d: %v, %v", c.a, c.b, s.Data, err)
		}
		if whole.Data[0] != c.a || part.Data[0] != c.b {
			t.Errorf("%d - %d changed what it was given", c.a, c.b)
		}
	}
}

func TestPermuteRefuses(t *testing.T) {
	r := shaped(Records, 2, 3)
	for _, c := range []struct {
		want  string
		s     Sketch
		order []int
	}{
		{"an order of 1", r, []int{0}}, {"not a permutation", r, []int{0, 0}}, {"permuting 2 rows", r, []int{0, 2}},
		{"not a permutation", r, []int{-1, 0}}, {"only records have an order", shaped(Columns, 2, 3), []int{0, 1}},
	} {
		if err := c.s.Permute(c.order); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v of a %s: %v, want %q", c.order, c.s, err, c.want)
		}
	}
}

// A merged sketch shares no memory with its parts.
func TestMergeCopies(t *testing.T) {
	part := Sketch{Side: Records, Rows: 1, Cols: 1, Data: []int64{5}}
	for name, merge := range map[string]func(...Sketch) (Sketch, error){"stack": Stack, "add": Add} {
		s, err := merge(part)
		must(t, err)
		s.Data[0] = 9
		if part.Data[0] != 5 {
			t.Errorf("%s shares memory", name)
		}
	}
}

func TestWidth(t *testing.T) {
	for _, c := range []struct {
		v    int64
		want int
	}{
		{0, 1}, {-1, 1}, {127, 1}, {-128, 1}, {128, 2}, {-129, 2}, {1<<15 - 1, 2}, {-1 << 15, 2}, {1 << 15, 3}, {-1<<15 - 1, 3},
		{1<<55 - 1, 7}, {-1 << 55, 7}, {1 << 55, 8}, {-1<<55 - 1, 8}, {math.MaxInt64, 8}, {math.MinInt64, 8},
	} {
		s := Sketch{Side: Columns, Rows: 1, Cols: 2, Data: []int64{0, c.v}}
		if got := s.Width(); got != c.want {
			t.Errorf("width of %d is %d, want %d", c.v, got, c.want)
		}
		if c.want > 1 {
			if _, err := s.Encode(c.want - 1); err == nil {
				t.Errorf("%d written in %d bytes", c.v, c.want-1)
			}
		}
	}
}

func TestEncodedSize(t *testing.T) {
	for _, c := range []struct {
		rows, cols, width int
		want              int64 // 0: an error is expected
	}{
		{2, 3, 5, 30}, {1, 1, 8, 8}, {0, 1, 1, 0}, {1, 0, 1, 0}, {-1, -1, 1, 0}, {1, 1, 0, 0}, {1, 1, 9, 0}, {1, 1, -1, 0},
		{math.MaxInt, 1, 8, 0}, {math.MaxInt, 2, 1, 0}, {math.MaxInt/2 + 1, 4, 1, 0}, {1 << 30, math.MaxInt, 1, 0}, {math.MinInt, math.MinInt, 1, 0},
	} {
		got, err := EncodedSize(c.rows, c.cols, c.width)
		if got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%d × %d × %d: %d, %v; want %d", c.rows, c.cols, c.width, got, err, c.want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, call := range map[string]func() error{
		"side":      func() error { _, err := Decode("rows", 1, 1, 1, []byte{1}); return err },
		"too short": func() error { _, err := Decode(Columns, 1, 2, 2, make([]byte, 3)); return err },
		"too long":  func() error { _, err := Decode(Columns, 1, 2, 2, make([]byte, 5)); return err },
		"empty":     func() error { _, err := Decode(Columns, 0, 2, 2, nil); return err },
		"wide":      func() error { _, err := Decode(Columns, 1, 1, 9, make([]byte, 9)); return err },
		"huge":      func() error { _, err := Decode(Columns, math.MaxInt, math.MaxInt, 8, make([]byte, 8)); return err },
	} {
		if call() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The encoding, byte by byte.
func TestEncodeBytes(t *testing.T) {
	s := Sketch{Side: Records, Rows: 2, Cols: 2, Data: []int64{1, -1, 0x123456, -0x123456}}
	out, err := s.Encode(3)
	must(t, err)
	if want := []byte{1, 0, 0, 0xff, 0xff, 0xff, 0x56, 0x34, 0x12, 0xaa, 0xcb, 0xed}; !bytes.Equal(out, want) {
		t.Errorf("% x, want % x", out, want)
	}
}

func TestEncodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 6).Draw(t, "rows"), rapid.IntRange(1, 6).Draw(t, "cols")
		magnitude := rapid.IntRange(0, 63).Draw(t, "bits")
		entry := rapid.Custom(func(t *rapid.T) int64 { return rapid.Int64().Draw(t, "entry") >> magnitude })
		s := Sketch{Side: Columns, Rows: rows, Cols: cols, Data: rapid.SliceOfN(entry, rows*cols, rows*cols).Draw(t, "data")}
		for width := s.Width(); width <= MaxWidth; width++ {
			out, err := s.Encode(width)
			must(t, err)
			back, err := Decode(Columns, rows, cols, width, out)
			must(t, err)
			if !slices.Equal(back.Data, s.Data) || back.Rows != rows || back.Cols != cols || back.Width() != s.Width() {
				t.Fatalf("%v came back as %v at %d bytes", s.Data, back.Data, width)
			}
		}
	})
}

// Whatever decodes encodes at the same width to the same bytes. Its least width is no larger.
func FuzzDecode(f *testing.F) {
	f.Add("columns", 1, 2, 3, []byte{1, 2, 3, 0xfd, 0xfe, 0xff})
	f.Add("records", 2, 1, 8, bytes.Repeat([]byte{0x80}, 16))
	f.Add("records", 3, 1, 1, []byte{0, 127, 128})
	f.Add("columns", math.MaxInt, 2, 8, []byte{})
	f.Add("columns", -1, -1, 1, []byte{0})
	f.Add("", 1, 1, 1, []byte{0})
	f.Fuzz(func(t *testing.T, side string, rows, cols, width int, data []byte) {
		s, err := Decode(Side(side), rows, cols, width, data)
		if err != nil {
			return
		}
		if s.Width() > width {
			t.Fatalf("entries of %d bytes need %d", width, s.Width())
		}
		out, err := s.Encode(width)
		if err != nil || !bytes.Equal(out, data) {
			t.Fatalf("%x encoded as %x, %v", data, out, err)
		}
	})
}

func TestPrintsNoData(t *testing.T) {
	s := Sketch{Side: Columns, Rows: 1, Cols: 1, Data: []int64{424242}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if out := fmt.Sprintf(verb, s); out != "columns sketch of 1 × 1" {
			t.Errorf("%s prints %q", verb, out)
		}
	}
}

// Scan reads a sketch of several blocks as Decode does, and refuses any other length.
func TestScan(t *testing.T) {
	const rows, cols, width = 3*scanBlock/2 + 1, 2, 3
	s := Sketch{Side: Columns, Rows: rows, Cols: cols, Data: make([]int64, rows*cols)}
	for i := range s.Data {
		s.Data[i] = int64(i*7919%(1<<23)) - 1<<22
	}
	data, err := s.Encode(width)
	must(t, err)
	var got []int64
	take := func(entries []int64) error { got = append(got, entries...); return nil }
	must(t, Scan(rows, cols, width, bytes.NewReader(data), take))
	if !slices.Equal(got, s.Data) {
		t.Error("Scan reads other entries")
	}
	for _, n := range []int{0, 1, len(data) - 1, len(data) + 1} {
		if err := Scan(rows, cols, width, bytes.NewReader(append(data, 0)[:n]), take); err == nil {
			t.Errorf("%d bytes were read as a sketch of %d", n, len(data))
		}
	}
	stop := errors.New("stop")
	if err := Scan(rows, cols, width, bytes.NewReader(data), func([]int64) error { return stop }); err != stop {
		t.Errorf("an error of the reader's: %v", err)
	}
}
