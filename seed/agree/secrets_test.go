package agree

import (
	"bytes"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/seed/secret"
)

func marshalled(t testing.TB, s *Secrets) []byte {
	t.Helper()
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Secrets that were stored and read back complete the agreement.
func TestSecretsSurviveStorage(t *testing.T) {
	a := shared(t, group(3))
	before, want := a.secrets[1], a.open(t, 1)
	stored := marshalled(t, before)
	s, err := ParseSecrets(stored, a.group.Study, a.group.Attempt, a.group.Members[1])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(marshalled(t, s), stored) {
		t.Error("written again, they are other bytes")
	}
	if was, is := before.Commit(), s.Commit(); was.Commitment != is.Commitment || !bytes.Equal(was.EphemeralKey, is.EphemeralKey) {
		t.Error("the commit changed")
	}
	a.secrets[1] = s
	if got := a.open(t, 1); !got.Seed.Equal(want.Seed) || got.T2 != want.T2 {
		t.Error("the outcome changed")
	}
	half, errHalf := before.pairHalf(want.T1, 0)
	again, errAgain := s.pairHalf(want.T1, 0)
	if errHalf != nil || errAgain != nil || !bytes.Equal(half, again) {
		t.Errorf("the pairwise halves changed: %v, %v", errHalf, errAgain)
	}
	for i := range stored { // the bytes that were parsed may be overwritten
		stored[i] = 0
	}
	if got := a.open(t, 1); !got.Seed.Equal(want.Seed) {
		t.Error("the secrets share memory with what they were read from")
	}
}

func TestParseSecretsRefuses(t *testing.T) {
	g := group(2)
	good := marshalled(t, committed(t, g).secrets[0])
	if _, err := ParseSecrets(good, g.Study, g.Attempt, g.Members[0]); err != nil {
		t.Fatal(err)
	}
	foreign := func(what string, study [32]byte, attempt uint32, self [32]byte) {
		if s, err := ParseSecrets(good, study, attempt, self); err == nil || s != nil || !strings.Contains(err.Error(), "another study, attempt or member") {
			t.Errorf("%s: %v", what, err)
		}
	}
	foreign("another study", [32]byte{}, g.Attempt, g.Members[0])
	foreign("another attempt", g.Study, g.Attempt+1, g.Members[0])
	foreign("another member", g.Study, g.Attempt, g.Members[1])
	for n := range len(good) {
		if s, err := ParseSecrets(good[:n], g.Study, g.Attempt, g.Members[0]); err == nil || s != nil {
			t.Errorf("the first %d of %d bytes: %v", n, len(good), err)
		}
	}
	longer, version := append(bytes.Clone(good), 0), bytes.Clone(good)
	version[0]++
	for _, bad := range [][]byte{longer, version} {
		if _, err := ParseSecrets(bad, g.Study, g.Attempt, g.Members[0]); err == nil {
			t.Error("accepted a byte too many or another version")
		}
	}
}

// No error quotes its input, as damaged secrets are still secret.
func TestParseSecretsErrorsQuoteNothing(t *testing.T) {
	s := loud(t)
	b := marshalled(t, s)
	for _, bad := range [][]byte{b[:len(b)-1], append(bytes.Clone(b), 0), b[1:]} {
		_, err := ParseSecrets(bad, s.study, s.attempt, s.self)
		if err == nil {
			t.Fatal("accepted")
		}
		checkSilent(t, "the error", err.Error())
	}
}

func TestBegin(t *testing.T) {
	g := group(2)
	full := make([]byte, 1024)
	if _, err := io.ReadFull(entropyOf(g.Members[0]), full); err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(full)
	s, err := Begin(g.Study, g.Attempt, g.Members[0], r)
	if err != nil {
		t.Fatal(err)
	}
	if drawn := len(full) - r.Len(); drawn != 4*32 {
		t.Errorf("drew %d bytes, want 128", drawn)
	}
	h := secret.Reveal(s.hidden)
	if !bytes.Equal(slices.Concat(h.contribution[:], h.blinder[:], h.pairKey[:]), full[:96]) {
		t.Error("contribution, blinder and pair key are not what was drawn, in that order")
	}
	again, err := Begin(g.Study, g.Attempt, g.Members[0], bytes.NewReader(full))
	if err != nil || !bytes.Equal(marshalled(t, again), marshalled(t, s)) {
		t.Errorf("the same entropy gives other secrets: %v", err)
	}
	for _, n := range []int{0, 31, 32, 64, 96, 127} {
		if s, err := Begin(g.Study, g.Attempt, g.Members[0], bytes.NewReader(full[:n])); err == nil || s != nil {
			t.Errorf("began with %d bytes of entropy", n)
		}
	}
	broken := errors.New("no entropy today")
	if _, err := Begin(g.Study, g.Attempt, g.Members[0], brokenReader{broken}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

// Every bit of what a member draws affects its commit: the ephemeral key or the commitment. The
// pair key does not, as it is for shares.
func TestCommitDependsOnEveryDraw(t *testing.T) {
	base := make([]byte, 128)
	commit := func(entropy []byte) Commit {
		s, err := Begin([32]byte{1}, 1, [32]byte{2}, bytes.NewReader(entropy))
		if err != nil {
			t.Fatal(err)
		}
		return s.Commit()
	}
	before := commit(base)
	for _, c := range []struct {
		at              int
		commitment, key bool
	}{{0, true, false}, {31, true, false}, {32, true, false}, {63, true, false}, {64, false, false}, {95, false, false}, {96, false, true}, {127, false, true}} {
		changed := bytes.Clone(base)
		changed[c.at] ^= 0x10
		after := commit(changed)
		if (after.Commitment != before.Commitment) != c.commitment || !bytes.Equal(after.EphemeralKey, before.EphemeralKey) != c.key {
			t.Errorf("byte %d: commitment changed %v, key changed %v", c.at, after.Commitment != before.Commitment, !bytes.Equal(after.EphemeralKey, before.EphemeralKey))
		}
	}
}

// loud returns secrets whose fields all contain bytes that are easy to find.
func loud(t testing.TB) *Secrets {
	t.Helper()
	entropy := make([]byte, 128)
	for i := range entropy {
		entropy[i] = byte(0xa0 + i%32)
	}
	s, err := Begin([32]byte{1}, 1, [32]byte{2}, bytes.NewReader(entropy))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// leaks are the forms in which fmt prints a0 a1 a2 …
func leaks() []string {
	raw := string([]byte{0xa0, 0xa1, 0xa2, 0xa3})
	return []string{
		"a0a1a2a3", "A0A1A2A3", "a0 a1 a2", "A0 A1 A2", "160 161 162", "0xa0, 0xa1", "10100000 10100001", "240 241 242",
		"U+00A0 U+00A1", raw, fmt.Sprintf("%q", raw), fmt.Sprintf("%c", []byte(raw)),
	}
}

func checkSilent(t *testing.T, what, out string) {
	t.Helper()
	for _, leak := range leaks() {
		if strings.Contains(out, leak) {
			t.Fatalf("%s prints %q", what, out)
		}
	}
}

func TestNothingPrintsSecrets(t *testing.T) {
	s := loud(t)
	seed, err := secret.Reveal(s.hidden).ephemeral.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	inner := struct {
		secrets *Secrets
		Secrets *Secrets
		value   Secrets
		Value   Secrets
		list    []*Secrets
		table   map[string]Secrets
		any     any
	}{s, s, *s, *s, []*Secrets{s}, map[string]Secrets{"a": *s}, s}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%#x", "%d", "%b", "%o", "%O", "%c", "%U", "%t", "%e", "%g", "%p", "%T", "%z"} {
		for _, v := range []any{s, *s, &s, inner, &inner, []any{s, *s}, [1]Secrets{*s}, fmt.Errorf("bad %v", s)} {
			out := fmt.Sprintf(verb, v)
			checkSilent(t, fmt.Sprintf("%s of %T", verb, v), out)
			if strings.Contains(out, hex.EncodeToString(seed[:4])) || strings.Contains(out, strings.Trim(fmt.Sprint(seed[:4]), "[]")) {
				t.Fatalf("%s of %T prints the ephemeral key: %q", verb, v, out)
			}
		}
		if out := fmt.Sprintf(verb, s); out != secret.Text && verb != "%T" && verb != "%p" {
			t.Errorf("%s prints %q", verb, out)
		}
	}
	// The search finds a leak if there is one.
	if out := fmt.Sprint(*secret.Reveal(s.hidden)); !strings.Contains(out, leaks()[4]) {
		t.Fatalf("the search is blind: %q", out)
	}
}

// Encoders of arbitrary types, such as gob, must not use MarshalBinary, which is only for the file
// of secrets.
func TestNothingElseEncodesSecrets(t *testing.T) {
	s := loud(t)
	pairs, err := ParsePairs(append([]byte{0, 0, 0, 0, 0, 0, 0, 2}, make([]byte, 64)...))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{s, *s, pairs, &pairs, struct{ S *Secrets }{s}, struct{ P Pairs }{pairs}} {
		var out bytes.Buffer
		if err := gob.NewEncoder(&out).Encode(v); !errors.Is(err, secret.ErrEncoded) {
			t.Errorf("gob of %T: %v", v, err)
		}
		checkSilent(t, "gob", out.String())
		if text, err := json.Marshal(v); !errors.Is(err, secret.ErrEncoded) {
			t.Errorf("JSON of %T: %q, %v", v, text, err)
		}
	}
}

// FuzzParseSecrets checks that whatever parses is encoded as the same bytes, and can begin an
// agreement.
func FuzzParseSecrets(f *testing.F) {
	g := group(2)
	good := marshalled(f, committed(f, g).secrets[0])
	seeds := [][]byte{good, good[:len(good)-1], append(bytes.Clone(good), 0), {secretsVersion}, nil}
	for _, b := range seeds {
		f.Add(b)
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSecrets(b, g.Study, g.Attempt, g.Members[0])
		if err != nil {
			if s != nil {
				t.Fatalf("%v, and yet secrets", err)
			}
			return
		}
		if !bytes.Equal(marshalled(t, s), b) {
			t.Fatal("written back as other bytes")
		}
		if err := s.Commit().Check(); err != nil {
			t.Fatal(err)
		}
	})
}
