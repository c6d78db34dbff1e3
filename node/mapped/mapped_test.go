package mapped_test

import (
	"errors"
	"math"
	"os"
	"testing"

	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/node/mapped"
)

// What is written is read back, slices do not overlap, and no file is left in the directory.
func TestSlices(t *testing.T) {
	f := &mapped.Files{Dir: t.TempDir()}
	const n = 3<<17 + 5
	x, err := room.Of[float64](f, n)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := room.Of[[16]byte](f, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if x[i] != 0 || ids[i] != [16]byte{} {
			t.Fatalf("place %d is not zero: %v, %v", i, x[i], ids[i])
		}
		x[i], ids[i] = math.Sqrt(float64(i)), [16]byte{byte(i), byte(i >> 8), 15: byte(i >> 16)}
	}
	for i := range n {
		if x[i] != math.Sqrt(float64(i)) || ids[i] != ([16]byte{byte(i), byte(i >> 8), 15: byte(i >> 16)}) {
			t.Fatalf("place %d: %v, %v", i, x[i], ids[i])
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(f.Dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

func TestNothingAtAll(t *testing.T) {
	f := &mapped.Files{Dir: t.TempDir()}
	if x, err := f.Bytes(0); err != nil || len(x) != 0 {
		t.Errorf("%v, %v", x, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// A request beyond Room, or beyond any disk, is refused before a byte is written.
func TestRefusals(t *testing.T) {
	full := errors.New("no room")
	f := &mapped.Files{Dir: t.TempDir(), Room: func(bytes int64) error {
		if bytes > 5<<20 {
			return full
		}
		return nil
	}}
	if _, err := f.Bytes(6 << 20); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	if _, err := f.Bytes(800); err != nil {
		t.Error(err)
	}
	for _, n := range []int{-1, math.MaxInt} {
		if _, err := f.Bytes(n); err == nil {
			t.Errorf("%d bytes are given", n)
		}
	}
	f.Room = nil
	if _, err := f.Bytes(1 << 56); err == nil {
		t.Error("more than any disk has is given")
	}
	f.Dir += "/none"
	if _, err := f.Bytes(1 << 20); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// Small slices share files, but no bytes.
func TestSmallSlices(t *testing.T) {
	f := &mapped.Files{Dir: t.TempDir()}
	var all [][]int32
	for i := range 300 {
		x, err := room.Of[int32](f, 1<<10+7*i)
		if err != nil {
			t.Fatal(err)
		}
		for at, v := range x {
			if v != 0 {
				t.Fatalf("slice %d holds %d at %d", i, v, at)
			}
			x[at] = int32(i)
		}
		all = append(all, append(x, -1)) // append must not reach into the next slice
	}
	for i, x := range all {
		for at, v := range x[:len(x)-1] {
			if v != int32(i) {
				t.Fatalf("slice %d holds %d at %d", i, v, at)
			}
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// A part can be closed by itself, and the rest stays.
func TestParts(t *testing.T) {
	f := &mapped.Files{Dir: t.TempDir()}
	whole, err := f.Bytes(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		part := f.Part()
		of, err := part.Bytes(1 << 20)
		if err != nil || of[0] != 0 {
			t.Fatal(err)
		}
		of[0] = 1
		if err := part.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.Part().Bytes(1 << 20); err != nil { // closed by Close of the whole
		t.Error(err)
	}
	whole[1<<20-1] = 7
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
