package agree

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/seed/secret"
	"github.com/cosketch/cosketch/seed/transcript"
)

// TestPairsAgree: each two members have the same secret, different pairs have different secrets,
// and each is HKDF over both halves as in the specification.
func TestPairsAgree(t *testing.T) {
	a := shared(t, group(4))
	var all []Pairs
	for i := range a.group.Members {
		all = append(all, a.open(t, i).Pairs)
	}
	seen := map[[32]byte]bool{}
	for i, p := range all {
		if p.Members() != 4 || p.Self() != i {
			t.Fatalf("member %d has pairs of member %d of %d", i, p.Self(), p.Members())
		}
		for j := range all {
			got, err := p.With(j)
			if i == j {
				if err == nil {
					t.Error("a member has a secret with itself")
				}
				continue
			}
			back, _ := all[j].With(i)
			if err != nil || got != back {
				t.Fatalf("members %d and %d do not agree: %v", i, j, err)
			}
			if i < j {
				if seen[got] {
					t.Errorf("members %d and %d have the secret of another pair", i, j)
				}
				seen[got] = true
				if want := a.secretOf(t, i, j); got != want {
					t.Errorf("members %d and %d have another secret than their halves give", i, j)
				}
			}
		}
		if _, err := p.With(4); err == nil {
			t.Error("a secret with nobody")
		}
		stored, err := p.MarshalBinary()
		if err != nil || !bytes.Equal(stored[8+32*i:][:32], make([]byte, 32)) {
			t.Errorf("member %d stores a secret with itself (%v)", i, err)
		}
	}
}

// secretOf opens the halves that two members sealed to each other, and combines them directly.
func (a *attempt) secretOf(t *testing.T, low, high int) [32]byte {
	t.Helper()
	t1 := a.group.T1(ids(a.commits))
	half := func(from, to int) []byte {
		plain, err := hpke.Open(secret.Reveal(a.secrets[to].hidden).ephemeral, kdf(), aead(), shareInfo(t1, from, to), a.shares[from].Message.Sealed[place(from, to)])
		if err != nil {
			t.Fatal(err)
		}
		return plain[64:]
	}
	prk, err := hkdf.Extract(sha256.New, append(half(low, high), half(high, low)...), t1[:])
	if err != nil {
		t.Fatal(err)
	}
	info := transcript.Join("cosketch/1/agree/pair secret", transcript.Uint32(uint32(low)), transcript.Uint32(uint32(high)))
	out, err := hkdf.Expand(sha256.New, prk, string(info), 32)
	if err != nil {
		t.Fatal(err)
	}
	return [32]byte(out)
}

func TestPairsAreStored(t *testing.T) {
	p := shared(t, group(3)).open(t, 1)
	raw, err := p.Pairs.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParsePairs(raw)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := back.MarshalBinary()
	if back.Self() != 1 || back.Members() != 3 || !bytes.Equal(raw, again) {
		t.Errorf("pairs came back as those of member %d of %d", back.Self(), back.Members())
	}
	for name, damaged := range map[string][]byte{
		"nothing": nil, "short": raw[:len(raw)-1], "long": append(raw, 0), "no such member": append([]byte{0, 0, 0, 3}, raw[4:]...),
		"too many": append([]byte{0, 0, 0, 0, 255, 255, 255, 255}, raw[8:]...),
	} {
		if _, err := ParsePairs(damaged); err == nil {
			t.Errorf("%s: parsed", name)
		}
	}
	if _, err := (Pairs{}).MarshalBinary(); err == nil {
		t.Error("no pairs are encoded")
	}
	key, _ := back.With(0)
	for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%s", "%d"} {
		if text := fmt.Sprintf(verb, struct{ p Pairs }{back}); strings.Contains(text, fmt.Sprintf("%x", key[:4])) || strings.Contains(text, fmt.Sprintf("%d %d %d", key[0], key[1], key[2])) {
			t.Errorf("%s shows a secret", verb)
		}
	}
	if back.Destroy(); must(back.With(0)) != [32]byte{} {
		t.Error("secrets live on")
	}
}

func must(key [32]byte, _ error) [32]byte { return key }
