package stream

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"
	"pgregory.net/rapid"
)

func testKey() (key [32]byte) {
	for i := range key {
		key[i] = byte(i + 1)
	}
	return key
}

// Block is BLAKE2b-512 of key ‖ label on both sides of the inline limit.
func TestBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		label := rapid.SliceOfN(rapid.Byte(), 0, 2*inline).Draw(t, "label")
		if New(key).Block(label) != blake2b.Sum512(append(key[:], label...)) {
			t.Fatalf("block of a label of %d bytes", len(label))
		}
	})
	s, key := New(testKey()), testKey()
	for _, n := range []int{0, inline - 1, inline, inline + 1} {
		if s.Block(make([]byte, n)) != blake2b.Sum512(append(key[:], make([]byte, n)...)) {
			t.Errorf("block of a label of %d bytes", n)
		}
	}
}

// Expand is AES-256 of a big-endian counter from zero, whatever the length and the previous content
// of dst.
func TestExpand(t *testing.T) {
	block := New(testKey()).Block([]byte("patient 1"))
	c, err := aes.NewCipher(block[:32])
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for i := range 20 {
		var counter [16]byte
		binary.BigEndian.PutUint64(counter[8:], uint64(i))
		c.Encrypt(counter[:], counter[:])
		want = append(want, counter[:]...)
	}
	for n := range len(want) {
		got := bytes.Repeat([]byte{0xff}, n)
		New(testKey()).Expand(&block, got)
		if !bytes.Equal(got, want[:n]) {
			t.Fatalf("keystream of %d bytes", n)
		}
	}
}

func TestBlockAllocates(t *testing.T) {
	s, label := New(testKey()), []byte("a record id of usual length")
	if n := testing.AllocsPerRun(100, func() { s.Block(label) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// One digest over the blocks and keystreams of 10,000 labels pins the bits of rows.
func TestGolden(t *testing.T) {
	s, h := New(testKey()), sha256.New()
	stream := make([]byte, 40)
	for i := range 10000 {
		block := s.Block([]byte(strconv.Itoa(i)))
		s.Expand(&block, stream)
		h.Write(block[:])
		h.Write(stream)
	}
	const want = "5ae6dfa4b6ee557af5e5ee7b60d1e92a93a1a110ab1b7a5e9055d744e961dfd1"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func TestLabels(t *testing.T) {
	party := testKey()
	for name, c := range map[string]struct {
		got  []byte
		want string
	}{
		"column":     {ColumnLabel("age"), "\x00\x00\x00\x03age"},
		"value":      {ValueLabel("ward", "é"), "\x00\x00\x00\x04ward\x00\x00\x00\x02é"},
		"vertical":   {VerticalRecordLabel([]byte("id")), "id"},
		"horizontal": {AppendHorizontalRecordLabel(nil, party, []byte("1")), "\x00\x00\x00\x20" + string(party[:]) + "1"},
		"appended":   {AppendHorizontalRecordLabel([]byte("x"), party, nil), "x\x00\x00\x00\x20" + string(party[:])},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

// Different columns and values never share a label.
func TestLabelsAreInjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.RuneFrom([]rune("\x00\x01ab")), 0, 6, -1)
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		c, d := name.Draw(t, "c"), name.Draw(t, "d")
		if bytes.Equal(ValueLabel(a, b), ValueLabel(c, d)) != (a == c && b == d) {
			t.Fatalf("values %q %q and %q %q", a, b, c, d)
		}
		if bytes.Equal(ColumnLabel(a), ColumnLabel(b)) != (a == b) {
			t.Fatalf("columns %q and %q", a, b)
		}
		if bytes.Equal(ColumnLabel(a), ValueLabel(c, d)) {
			t.Fatalf("column %q and value %q %q", a, c, d)
		}
	})
}

func TestNothingPrintsTheKey(t *testing.T) {
	s := New(testKey())
	for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%d", "%s", "%q", "%t"} {
		for _, v := range []any{s, struct{ s Stream }{s}} {
			if out := fmt.Sprintf(verb, v); strings.Contains(out, "1 2 3") || strings.Contains(out, "010203") || strings.Contains(out, "0x1, 0x2") {
				t.Errorf("%s of %T prints %q", verb, v, out)
			}
		}
	}
}

// Blocks equals Block and Expand equals the standard library's counter mode, for any mix of
// lengths.
func checkAgainstPlain(t *testing.T, key [32]byte, lengths []byte, size int) {
	s, labels := New(key), make([][]byte, len(lengths))
	for i, n := range lengths {
		labels[i] = bytes.Repeat([]byte{n, byte(i)}, 128)[:n]
	}
	blocks := make([][64]byte, len(labels))
	for l := plain; l <= bestLevel(); l++ {
		clear(blocks)
		s.blocksAt(l, blocks, labels)
		for i, label := range labels {
			if want := blake2b.Sum512(append(key[:], label...)); blocks[i] != want {
				t.Fatalf("level %d: block %d of %d, of a label of %d bytes, differs", l, i, len(labels), len(label))
			}
		}
	}
	for i := range labels {
		c, err := aes.NewCipher(blocks[i][:32])
		if err != nil {
			t.Fatal(err)
		}
		want, got := make([]byte, size), bytes.Repeat([]byte{0xff}, size+16)
		cipher.NewCTR(c, make([]byte, 16)).XORKeyStream(want, want)
		s.Expand(&blocks[i], got[:size])
		if !bytes.Equal(got[:size], want) || !bytes.Equal(got[size:], bytes.Repeat([]byte{0xff}, 16)) {
			t.Fatalf("keystream of %d bytes differs", size)
		}
	}
}

func TestFastEqualsPlain(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		key := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(r, "key"))
		checkAgainstPlain(t, key, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(r, "lengths"), rapid.IntRange(0, 600).Draw(r, "size"))
	})
}

func FuzzFastEqualsPlain(f *testing.F) {
	f.Add([]byte("key"), []byte{0, 1, 7, 8, 9, 95, 96, 97, 16, 16, 16, 16, 16, 16, 16, 16}, uint16(127))
	f.Add([]byte{}, bytes.Repeat([]byte{96}, 17), uint16(4096))
	f.Fuzz(func(t *testing.T, key, lengths []byte, size uint16) {
		var k [32]byte
		copy(k[:], key)
		checkAgainstPlain(t, k, lengths[:min(len(lengths), 64)], int(size%5000))
	})
}

func TestExpandDoesNotAllocate(t *testing.T) {
	if !keystream(new([64]byte), nil) {
		t.Skip("this build expands with the standard library")
	}
	s, block, dst := New(testKey()), new([64]byte), make([]byte, 300)
	if n := testing.AllocsPerRun(10, func() { s.Expand(block, dst) }); n > 0 {
		t.Errorf("%.0f allocations", n)
	}
}

func BenchmarkBlocks(b *testing.B) {
	s, labels := New(testKey()), make([][]byte, 256)
	for i := range labels {
		labels[i] = []byte(fmt.Sprintf("record %9d", i))
	}
	blocks := make([][64]byte, len(labels))
	for l := plain; l <= bestLevel(); l++ {
		b.Run([]string{"plain", "avx2", "avx512"}[l], func(b *testing.B) {
			for b.Loop() {
				s.blocksAt(l, blocks, labels)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(labels)), "ns/label")
		})
	}
}

func BenchmarkBlock(b *testing.B) {
	s, label := New(testKey()), []byte("0123456789abcdef")
	for b.Loop() {
		s.Block(label)
	}
}

func BenchmarkExpand(b *testing.B) {
	s := New(testKey())
	block, dst := s.Block(nil), make([]byte, 128)
	for b.Loop() {
		s.Expand(&block, dst)
	}
}
