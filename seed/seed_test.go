package seed

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/seed/secret"
)

func testBytes() (b [Size]byte) {
	for i := range b {
		b[i] = byte(0xa0 + i)
	}
	return b
}

func TestNothingPrintsTheSecret(t *testing.T) {
	b := testBytes()
	s := FromBytes(b)
	inner := struct {
		seed  Seed
		Seed  Seed
		List  []Seed
		Map   map[string]Seed
		Point *Seed
	}{s, s, []Seed{s}, map[string]Seed{"a": s}, &s}
	leaks := []string{
		hex.EncodeToString(b[:4]), strings.ToUpper(hex.EncodeToString(b[:4])),
		"160 161 162", "0xa0, 0xa1", "a0 a1 a2", string(b[:4]), fmt.Sprintf("%q", string(b[:4])), "10100000 10100001", "240 241 242",
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%X", "% x", "%s", "%q", "%d", "%b", "%o", "%c", "%U", "%t", "%e", "%g"} {
		for _, v := range []any{s, &s, inner, &inner, []any{s}, [1]Seed{s}, fmt.Errorf("bad %v", s)} {
			out := fmt.Sprintf(verb, v)
			for _, leak := range leaks {
				if strings.Contains(out, leak) {
					t.Fatalf("%s of %T prints %q", verb, v, out)
				}
			}
		}
		if out := fmt.Sprintf(verb, s); out != secret.Text {
			t.Errorf("%s prints %q", verb, out)
		}
	}
	// The search finds a leak if there is one.
	if out := fmt.Sprintf("%v", struct{ b [Size]byte }{b}); !strings.Contains(out, leaks[2]) {
		t.Fatalf("the search is blind: %q", out)
	}
}

func TestNothingMarshalsTheSecret(t *testing.T) {
	s := FromBytes(testBytes())
	for _, v := range []any{s, &s, struct{ S Seed }{s}, map[string]Seed{"a": s}} {
		if out, err := json.Marshal(v); !errors.Is(err, secret.ErrEncoded) {
			t.Errorf("json of %T: %q, %v", v, out, err)
		}
	}
	if _, err := encoding.TextMarshaler(s).MarshalText(); err == nil {
		t.Error("text of a seed")
	}
}

// expand is HKDF-Expand of one block, straight from RFC 5869.
func expand(key []byte, info string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(info + "\x01"))
	return mac.Sum(nil)
}

func TestDerive(t *testing.T) {
	b := testBytes()
	s := FromBytes(b)
	seen := map[[32]byte]Label{}
	for label, want := range map[Label]string{
		RecordRows: "1a2c14a63eae0c45526681bd72709cc3ad28eca58dcb20a842890a86075c22e3",
		ColumnRows: "1ff640e7f03ab59814945d84c1a92ff436c0ef827b4185faf5c75075654dbb80",
		Confirm:    "5ef347431083f8ab9fd6181a5847140438b154430f0cd9cf19dfabf0c07da325",

		HadamardPermutation: "e3263f0476fc1936cec96c62a5a45445bb9e4b6785bd749a08470fc8ba9b1f59",
	} {
		key, err := s.Derive(label)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(key[:], expand(b[:], "cosketch/1/"+string(label))) {
			t.Errorf("%s is not HKDF-Expand", label)
		}
		if got := hex.EncodeToString(key[:]); got != want {
			t.Errorf("%s: %s, want %s", label, got, want)
		}
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s share a key", label, other)
		}
		seen[key] = label
	}
}

func TestExtract(t *testing.T) {
	one, two := testBytes(), [32]byte{7}
	salt := [32]byte{1, 2, 3}
	s, err := Extract(salt, [][]byte{one[:], two[:]})
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, salt[:])
	mac.Write(one[:])
	mac.Write(two[:])
	if got := s.Bytes(); !bytes.Equal(got[:], mac.Sum(nil)) {
		t.Error("not HKDF-Extract")
	}
	if one != testBytes() {
		t.Error("a contribution was written to")
	}
	swapped, err := Extract(salt, [][]byte{two[:], one[:]})
	if err != nil || swapped.Equal(s) {
		t.Errorf("order does not count: %v", err)
	}
	for _, bad := range [][][]byte{nil, {}, {one[:31]}, {one[:], append(two[:], 0)}, {nil}} {
		if s, err := Extract(salt, bad); err == nil || !s.IsZero() {
			t.Errorf("extracted from %d odd contributions", len(bad))
		}
	}
}

func TestLifetime(t *testing.T) {
	var absent Seed
	if !absent.IsZero() || absent.Bytes() != [Size]byte{} {
		t.Error("the zero seed is not absent")
	}
	absent.Destroy()
	if _, err := absent.Derive(Confirm); !errors.Is(err, ErrAbsent) {
		t.Errorf("deriving from an absent seed: %v", err)
	}
	s := FromBytes(testBytes())
	same, other := FromBytes(s.Bytes()), FromBytes([Size]byte{1})
	if s.IsZero() || !s.Equal(same) || s.Equal(other) || s.Equal(absent) {
		t.Error("Equal or IsZero")
	}
	taken := s.Bytes()
	taken[0] ^= 1
	if s.Bytes() != testBytes() {
		t.Error("Bytes shares memory")
	}
	copied := s
	s.Destroy()
	if !copied.IsZero() || same.IsZero() {
		t.Error("Destroy must reach copies, and only them")
	}
	if _, err := copied.Derive(RecordRows); !errors.Is(err, ErrAbsent) {
		t.Errorf("deriving from a destroyed seed: %v", err)
	}
}
