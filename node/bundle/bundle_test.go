package bundle

import (
	"bytes"
	"crypto/hpke"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
)

var label = Label{Study: protocol.StudyID{1}, From: protocol.PeerID{2}, To: protocol.PeerID{3}}

func recipient(t testing.TB) hpke.PrivateKey {
	t.Helper()
	key, err := hpke.MLKEM768X25519().DeriveKeyPair(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

type part struct {
	name string
	body []byte
}

func write(t testing.TB, parts ...part) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := Create(&out, label, recipient(t).PublicKey().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if err := w.Add(p.name, p.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read returns the parts before an error or the end.
func read(data []byte, key hpke.PrivateKey) (parts []part, l Label, err error) {
	in := bytes.NewReader(data)
	if l, err = ReadLabel(in); err != nil {
		return nil, l, err
	}
	r, err := Open(in, l, key)
	if err != nil {
		return nil, l, err
	}
	for {
		name, body, err := r.Next()
		if err == io.EOF {
			return parts, l, nil
		}
		if err != nil {
			return parts, l, err
		}
		parts = append(parts, part{name, body})
	}
}

func TestRoundTrip(t *testing.T) {
	want := []part{{"post", []byte("one")}, {"chunk", bytes.Repeat([]byte{5}, maxBody)}, {"empty", nil}}
	got, l, err := read(write(t, want...), recipient(t))
	if err != nil || l != label || len(got) != len(want) {
		t.Fatalf("%d parts of %+v, %v", len(got), l, err)
	}
	for i, p := range got {
		if p.name != want[i].name || !bytes.Equal(p.body, want[i].body) {
			t.Errorf("part %d is %q with %d bytes", i, p.name, len(p.body))
		}
	}
	if _, _, err := read(write(t), recipient(t)); err != nil {
		t.Errorf("a bundle without parts: %v", err)
	}
}

// Nothing can be cut off, added, changed or moved unnoticed.
func TestDamage(t *testing.T) {
	whole := write(t, part{"a", []byte("first")}, part{"b", []byte("second")})
	for n := range whole {
		if _, _, err := read(whole[:n], recipient(t)); !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrNoBundle) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(whole), err)
		}
		turned := bytes.Clone(whole)
		turned[n] ^= 0x40
		if _, _, err := read(turned, recipient(t)); err == nil {
			t.Fatalf("byte %d turned: no error", n)
		}
	}
	if _, _, err := read(append(bytes.Clone(whole), 0), recipient(t)); !errors.Is(err, ErrDamaged) {
		t.Errorf("one more byte: %v", err)
	}
	head := len(magic) + 3*32 + encSize
	length := func(body int) int { return 4 + 2 + 1 + body + 16 }
	first, second := whole[head:head+length(5)], whole[head+length(5):head+length(5)+length(6)]
	swapped := bytes.Join([][]byte{whole[:head], second, first, whole[head+len(first)+len(second):]}, nil)
	if len(swapped) != len(whole) {
		t.Fatal("the test does not know the format")
	}
	if _, _, err := read(swapped, recipient(t)); !errors.Is(err, ErrDamaged) {
		t.Errorf("parts in another order: %v", err)
	}
	other, err := hpke.MLKEM768X25519().GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(whole, other); !errors.Is(err, ErrDamaged) {
		t.Errorf("another recipient: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	if _, err := Create(io.Discard, label, []byte("short")); err == nil {
		t.Error("a key that is none was sealed to")
	}
	w, err := Create(io.Discard, label, recipient(t).PublicKey().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []part{{"", nil}, {fmt.Sprintf("%033d", 1), nil}, {"a", make([]byte, maxBody+1)}} {
		if err := w.Add(p.name, p.body); err == nil {
			t.Errorf("part %q of %d bytes was written", p.name, len(p.body))
		}
	}
}

// The longest part with the longest name is read. A greater length is refused before anything is
// read or allocated for it.
func TestLongestPart(t *testing.T) {
	longest := part{strings.Repeat("n", maxName), bytes.Repeat([]byte{5}, maxBody)}
	whole := write(t, longest)
	got, _, err := read(whole, recipient(t))
	if err != nil || len(got) != 1 || got[0].name != longest.name || !bytes.Equal(got[0].body, longest.body) {
		t.Fatalf("%d parts, %v", len(got), err)
	}
	head := len(magic) + 3*32 + encSize
	if n := binary.BigEndian.Uint32(whole[head:]); n != maxPart {
		t.Fatalf("the longest part has %d bytes, and %d are allowed", n, maxPart)
	}
	for n, want := range map[uint32]error{maxPart: ErrTruncated, maxPart + 1: ErrDamaged, math.MaxUint32: ErrDamaged} {
		begun := binary.BigEndian.AppendUint32(bytes.Clone(whole[:head]), n)
		in := bytes.NewReader(append(begun, 0))
		l, err := ReadLabel(in)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(in, l, recipient(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.Next(); !errors.Is(err, want) {
			t.Errorf("a part of %d bytes: %v, want %v", n, err, want)
		}
		if left := in.Len(); (left == 1) != (n > maxPart) {
			t.Errorf("of a part of %d bytes %d bytes are left", n, left)
		}
	}
}

// A part whose stated name is longer than the part is damaged.
func TestNamesBeyondTheirPart(t *testing.T) {
	for _, c := range []struct {
		plain []byte
		want  error
	}{
		{[]byte{0, 2, 'a', 'b'}, nil},
		{[]byte{0, 3, 'a', 'b'}, ErrDamaged},
		{[]byte{0, 255}, ErrDamaged},
		{[]byte{0}, ErrDamaged},
		{nil, ErrDamaged},
		{[]byte{2, 0}, ErrDamaged},
		{[]byte{1, 1, 'a'}, ErrDamaged},
		{[]byte{1, 0, 'a'}, ErrDamaged},
		{[]byte{1, 0}, io.EOF},
	} {
		var out bytes.Buffer
		w, err := Create(&out, label, recipient(t).PublicKey().Bytes())
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := w.seal.Seal(nil, c.plain)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(sealed))), sealed...))
		l, err := ReadLabel(&out)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(&out, l, recipient(t))
		if err != nil {
			t.Fatal(err)
		}
		name, body, err := r.Next()
		if !errors.Is(err, c.want) {
			t.Errorf("%v: %v, want %v", c.plain, err, c.want)
		}
		if c.want == nil && (name != "ab" || len(body) > 0) {
			t.Errorf("%v: part %q of %q", c.plain, name, body)
		}
	}
}

func TestOtherVersion(t *testing.T) {
	whole := write(t)
	for text, want := range map[string]bool{"2": true, "12": true, "1": false, "x": false, "": false, "99999999": false} {
		_, err := ReadLabel(bytes.NewReader(append([]byte("cosketch bundle/"+text+"\n"), whole[len(magic):]...)))
		var d *protocol.Disagreement
		if errors.As(err, &d) != want || want && (d.On != protocol.OnVersion || d.Theirs != "cosketch bundle/"+text) {
			t.Errorf("version %q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	key := recipient(f)
	f.Add([]byte(magic))
	f.Add(write(f))
	f.Add(write(f, part{"post", []byte("one")}, part{"chunk", make([]byte, 100)}))
	f.Fuzz(func(t *testing.T, data []byte) {
		parts, _, err := read(data, key)
		if err != nil && len(parts) > 0 && !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrDamaged) {
			t.Errorf("after %d parts: %v", len(parts), err)
		}
	})
}

// Every bundle of protocol/testdata/vectors is read as by another implementation.
func TestVectors(t *testing.T) {
	raw, err := os.ReadFile("../../protocol/testdata/vectors/bundles.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Cases []struct {
			Note                                string
			Recipient, Encoded, Study, From, To string
			Read                                bool
			Parts                               []struct{ Name, Body string }
		}
	}
	if err := json.Unmarshal(raw, &vectors); err != nil || len(vectors.Cases) < 5 {
		t.Fatalf("%d cases, %v", len(vectors.Cases), err)
	}
	for _, c := range vectors.Cases {
		key, err := hpke.MLKEM768X25519().DeriveKeyPair(unhex(t, c.Recipient))
		if err != nil {
			t.Fatal(err)
		}
		parts, l, err := read(unhex(t, c.Encoded), key)
		if got := fmt.Sprintf("%x %x %x", l.Study[:], l.From[:], l.To[:]); c.Read && got != c.Study+" "+c.From+" "+c.To {
			t.Errorf("%s: label %s", c.Note, got)
		}
		if (err == nil) != c.Read {
			t.Errorf("%s: %v", c.Note, err)
			continue
		}
		if err == nil && len(parts) != len(c.Parts) {
			t.Errorf("%s: %d parts", c.Note, len(parts))
		}
		for i, want := range c.Parts {
			if parts[i].name != want.Name || !bytes.Equal(parts[i].body, unhex(t, want.Body)) {
				t.Errorf("%s: part %d is %q of %d bytes", c.Note, i, parts[i].name, len(parts[i].body))
			}
		}
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
