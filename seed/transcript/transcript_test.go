package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// split is the inverse of Join. Its existence proves that Join is injective.
func split(b []byte) (fields [][]byte, ok bool) {
	for len(b) > 0 {
		if len(b) < 4 || uint64(len(b)-4) < uint64(binary.BigEndian.Uint32(b)) {
			return nil, false
		}
		n := 4 + binary.BigEndian.Uint32(b)
		fields = append(fields, b[4:n])
		b = b[n:]
	}
	return fields, len(fields) > 0
}

func TestJoinCanBeUndone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		label := rapid.String().Draw(t, "label")
		fields := rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "fields")
		joined := Join(label, fields...)
		if len(joined) != cap(joined) {
			t.Errorf("%d bytes in room for %d", len(joined), cap(joined))
		}
		got, ok := split(joined)
		if !ok || string(got[0]) != label || !slices.EqualFunc(got[1:], fields, bytes.Equal) {
			t.Fatalf("%q %q came back as %q (%v)", label, fields, got, ok)
		}
	})
}

// Short texts over few bytes, which look like lengths, collide if anything can.
func TestNoTwoTranscriptsShareAnEncoding(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune{0, 1, 4, 'a'}), 0, 5, -1)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (string, [][]byte) {
			var fields [][]byte
			for _, f := range rapid.SliceOfN(text, 0, 3).Draw(t, name+"'s fields") {
				fields = append(fields, []byte(f))
			}
			return text.Draw(t, name+"'s label"), fields
		}
		labelA, a := draw("a")
		labelB, b := draw("b")
		same := labelA == labelB && slices.EqualFunc(a, b, bytes.Equal)
		if bytes.Equal(Join(labelA, a...), Join(labelB, b...)) != same || (Hash(labelA, a...) == Hash(labelB, b...)) != same {
			t.Fatalf("%q %q and %q %q", labelA, a, labelB, b)
		}
	})
}

func TestBoundariesCount(t *testing.T) {
	f := func(fields ...string) (out [][]byte) {
		for _, s := range fields {
			out = append(out, []byte(s))
		}
		return out
	}
	seen := map[[32]byte]int{}
	for i, c := range []struct {
		label  string
		fields [][]byte
	}{
		{"ab", nil}, {"a", f("b")}, {"", f("ab")}, {"", f("a", "b")}, {"ab", f("")}, {"ab", f("", "")},
		{"a", f("b", "")}, {"a", f("", "b")}, {"", nil}, {"", f("")}, {"a", f("\x00\x00\x00\x01b")},
	} {
		h := Hash(c.label, c.fields...)
		if before, found := seen[h]; found {
			t.Errorf("cases %d and %d have one hash", before, i)
		}
		seen[h] = i
	}
	if Hash("a", nil) != Hash("a", []byte{}) {
		t.Error("an absent field is not an empty one")
	}
}

func TestLayout(t *testing.T) {
	want := "\x00\x00\x00\x05label\x00\x00\x00\x01a\x00\x00\x00\x00\x00\x00\x00\x04\x01\x02\x03\x04\x00\x00\x00\x08\x01\x02\x03\x04\x05\x06\x07\x08"
	fields := [][]byte{[]byte("a"), nil, Uint32(0x01020304), []byte("\x01\x02\x03\x04\x05\x06\x07\x08")}
	if got := Join("label", fields...); string(got) != want {
		t.Fatalf("%x, want %x", got, want)
	}
	if Hash("label", fields...) != sha256.Sum256([]byte(want)) {
		t.Error("Hash is not SHA-256 of Join")
	}
	const golden = "014d3a287345775c9842f071e9f0f1c78053459e850e08aac8654f4eb1ae4ace"
	if h := Hash("label", fields...); hex.EncodeToString(h[:]) != golden {
		t.Errorf("hash %x, want %s", h, golden)
	}
}

func TestAppendFieldKeepsWhatIsThere(t *testing.T) {
	dst := make([]byte, 3, 64)
	copy(dst, "abc")
	if got := AppendField(dst, []byte("de")); string(got) != "abc\x00\x00\x00\x02de" {
		t.Errorf("%q", got)
	}
}
