package protocol

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"filippo.io/edwards25519"
	"pgregory.net/rapid"
)

// kinds lists all kinds of study/2.
var kinds = []Kind{
	KindApprove, KindWithdraw, KindRoster, KindCommit, KindShare, KindConfirm, KindRelease, KindResult,
	KindComplaint, KindFault, KindAbandon, KindCertificate, KindJoin, KindWelcome, KindJoined, KindStop, KindClose,
}

// sample returns a small signed envelope.
func sample(t testing.TB) Verified {
	t.Helper()
	return sealed(signerOf(t, 7).Seal(StudyID(bytes.Repeat([]byte{0x55}, 32)), KindCommit, 2, []byte("abc")))
}

// The layout of the signed bytes, byte by byte, and what is derived from it.
func TestPreimageLayout(t *testing.T) {
	v := sample(t)
	e := v.Envelope()
	want := "cosketch/1/envelope\x00" +
		"\x00\x00\x00\x20" + strings.Repeat("\x55", 32) +
		"\x00\x00\x00\x20" + string(unhex(t, "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c")) +
		"\x00\x00\x00\x06" + "commit" +
		"\x00\x00\x00\x02" +
		"\x00\x00\x00\x03" + "abc"
	if got := e.Preimage(); string(got) != want {
		t.Fatalf("preimage\n%x, want\n%x", got, want)
	}
	if n := len(e.Preimage()); n != cap(e.Preimage()) {
		t.Errorf("the preimage of %d bytes was given room for %d", n, cap(e.Preimage()))
	}
	id := sha256.Sum256([]byte("\x00\x00\x00\x0benvelope id\x00\x00\x00\x71" + want))
	if v.ID() != id {
		t.Errorf("id %s, want %x", v.ID(), id)
	}
	if got := hex.EncodeToString(e.Signature); got != goldenSignature || v.ID().String() != goldenID {
		t.Errorf("id %s, signature %s", v.ID(), got)
	}
}

// Another implementation that signs sample's envelope gets these values.
const (
	goldenID        = "b72a0ea13de456326da6a702a0b44caf15ee7e5b98ab29c894fb11ff40868df5"
	goldenSignature = "095123e9e3719554b7efb9f0578ad834bfe62b8830a72d37a4c1c859a5c969295e5778dedcf3cbf01a5677f11bcbf94753d8bd2a1cb6bc29f959896732667301"
)

// splitPreimage inverts Preimage, which shows that the encoding is unambiguous.
func splitPreimage(b []byte) (e Envelope, ok bool) {
	rest, ok := bytes.CutPrefix(b, []byte(envelopePrefix))
	field := func() []byte {
		if !ok || len(rest) < 4 || uint64(len(rest)-4) < uint64(binary.BigEndian.Uint32(rest)) {
			ok = false
			return nil
		}
		n := 4 + binary.BigEndian.Uint32(rest)
		f := rest[4:n]
		rest = rest[n:]
		return f
	}
	study, sender, kind := field(), field(), field()
	if !ok || len(study) != 32 || len(sender) != 32 || len(rest) < 4 {
		return e, false
	}
	e = Envelope{Study: StudyID(study), Sender: PeerID(sender), Kind: Kind(kind), Attempt: binary.BigEndian.Uint32(rest)}
	rest = rest[4:]
	e.Payload = field()
	return e, ok && len(rest) == 0
}

func TestPreimageIsUnambiguous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		array := func(name string) [32]byte {
			return [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, name))
		}
		e := Envelope{
			Study: array("study"), Sender: array("sender"), Kind: Kind(rapid.String().Draw(t, "kind")),
			Attempt: rapid.Uint32().Draw(t, "attempt"), Payload: rapid.SliceOf(rapid.Byte()).Draw(t, "payload"),
		}
		got, ok := splitPreimage(e.Preimage())
		if !ok || got.Study != e.Study || got.Sender != e.Sender || got.Kind != e.Kind || got.Attempt != e.Attempt || !bytes.Equal(got.Payload, e.Payload) {
			t.Fatalf("%+v came back as %+v (%v)", e, got, ok)
		}
	})
}

// sealed returns the result of Seal for a message that has the form of its kind.
func sealed(e Verified, err error) Verified {
	if err != nil {
		panic(err)
	}
	return e
}

// signed returns the envelope with a valid signature over whatever it holds, which Seal might
// refuse.
func signed(s Signer, e Envelope) Envelope {
	e.Sender = s.id
	e.Signature = s.sign(e.Preimage())
	return e
}

func TestSealedEnvelopesVerify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed")
		signer, err := NewSigner(ed25519.NewKeyFromSeed(seed))
		if err != nil {
			t.Fatal(err)
		}
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		attempt := uint32(0)
		if !kind.PreAttempt() {
			attempt = rapid.Uint32Min(1).Draw(t, "attempt")
		}
		study := StudyID(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "study"))
		made := sealed(signer.Seal(study, kind, attempt, rapid.SliceOf(rapid.Byte()).Draw(t, "payload")))
		v, err := Verify(made.Envelope())
		if err != nil {
			t.Fatal(err)
		}
		if v.ID() != made.ID() || v.Study() != study || v.Sender() != signer.ID() || v.Kind() != kind ||
			v.Attempt() != attempt || !bytes.Equal(v.Payload(), made.Payload()) || v.String() != made.String() {
			t.Fatalf("%v came back as %v", made, v)
		}
	})
}

// flips calls check with the envelope changed in each single bit of each field.
func flips(e Envelope, check func(what string, e Envelope)) {
	eachBit := func(name string, n int, flip func(e *Envelope, i int, mask byte)) {
		for bit := range 8 * n {
			changed := e
			changed.Payload, changed.Signature = bytes.Clone(e.Payload), bytes.Clone(e.Signature)
			flip(&changed, bit/8, 1<<(bit%8))
			check(fmt.Sprintf("bit %d of %s", bit, name), changed)
		}
	}
	eachBit("study", len(e.Study), func(e *Envelope, i int, mask byte) { e.Study[i] ^= mask })
	eachBit("sender", len(e.Sender), func(e *Envelope, i int, mask byte) { e.Sender[i] ^= mask })
	eachBit("kind", len(e.Kind), func(e *Envelope, i int, mask byte) {
		kind := []byte(e.Kind)
		kind[i] ^= mask
		e.Kind = Kind(kind)
	})
	eachBit("attempt", 4, func(e *Envelope, i int, mask byte) { e.Attempt ^= uint32(mask) << (8 * i) })
	eachBit("payload", len(e.Payload), func(e *Envelope, i int, mask byte) { e.Payload[i] ^= mask })
	eachBit("signature", len(e.Signature), func(e *Envelope, i int, mask byte) { e.Signature[i] ^= mask })
}

func TestOneFlippedBitIsRefused(t *testing.T) {
	good := sample(t).Envelope()
	count := 0
	flips(good, func(what string, e Envelope) {
		count++
		checkRefused(t, what, e)
	})
	if want := 8 * (32 + 32 + len("commit") + 4 + len("abc") + 64); count != want {
		t.Errorf("%d bits were flipped, want %d", count, want)
	}
	if _, err := Verify(good); err != nil {
		t.Errorf("the envelope was not good, or flipping changed it: %v", err)
	}
}

// checkRefused asserts that an envelope is refused, that the result is empty, and that the error
// blames the sender, kind and attempt that it claims.
func checkRefused(t *testing.T, what string, e Envelope) error {
	t.Helper()
	v, err := Verify(e)
	var fault *Fault
	if !errors.As(err, &fault) {
		t.Fatalf("%s: %v, want a Fault", what, err)
	}
	if fault.Culprit != e.Sender || fault.Kind != e.Kind || fault.Attempt != e.Attempt {
		t.Errorf("%s: blames %s/%d of %s", what, fault.Kind, fault.Attempt, fault.Culprit)
	}
	if v.ID() != (Digest{}) || v.Payload() != nil || v.Sender() != (PeerID{}) {
		t.Errorf("%s: refused, but gives %v", what, v)
	}
	return err
}

func TestVerifyRefuses(t *testing.T) {
	signer, other := signerOf(t, 7), signerOf(t, 8)
	study := StudyID{1}
	good := sealed(signer.Seal(study, KindCommit, 1, []byte("payload"))).Envelope()
	change := func(f func(*Envelope)) Envelope {
		e := good
		f(&e)
		return e
	}
	// resigned has a valid signature over invalid content.
	resigned := func(f func(*Envelope)) Envelope {
		e := change(f)
		return signed(signer, e)
	}
	for name, c := range map[string]struct {
		envelope Envelope
		want     string
	}{
		"another kind's signature":    {change(func(e *Envelope) { e.Kind = KindShare }), ErrSignature.Error()},
		"another attempt's signature": {change(func(e *Envelope) { e.Attempt = 2 }), ErrSignature.Error()},
		"another study's signature":   {change(func(e *Envelope) { e.Study = StudyID{2} }), ErrSignature.Error()},
		"another sender":              {change(func(e *Envelope) { e.Sender = other.ID() }), ErrSignature.Error()},
		"no signature":                {change(func(e *Envelope) { e.Signature = nil }), ErrSignature.Error()},
		"short signature":             {change(func(e *Envelope) { e.Signature = e.Signature[:63] }), ErrSignature.Error()},
		"long signature":              {change(func(e *Envelope) { e.Signature = append(bytes.Clone(e.Signature), 0) }), ErrSignature.Error()},
		"no payload":                  {change(func(e *Envelope) { e.Payload = nil }), ErrSignature.Error()},
		"a head's signature":          {change(func(e *Envelope) { e.Signature = signer.SignHead(study, 1, Digest{}).Signature }), ErrSignature.Error()},
		"no kind":                     {resigned(func(e *Envelope) { e.Kind = "" }), `unknown kind ""`},
		"unknown kind":                {resigned(func(e *Envelope) { e.Kind = "jion" }), `unknown kind "jion"`},
		"kind in capitals":            {resigned(func(e *Envelope) { e.Kind = "Commit" }), `unknown kind "Commit"`},
		"kind that moves the cursor":  {resigned(func(e *Envelope) { e.Kind = "\x1b[2J\n" }), `unknown kind "\x1b[2J\n"`},
		"endless kind":                {resigned(func(e *Envelope) { e.Kind = Kind(strings.Repeat("k", 1000)) }), "unknown kind"},
		"commit before all attempts":  {resigned(func(e *Envelope) { e.Attempt = 0 }), "attempt 0 does not fit"},
		"approval in an attempt":      {resigned(func(e *Envelope) { e.Kind = KindApprove }), "attempt 1 does not fit"},
		"withdrawal in an attempt":    {resigned(func(e *Envelope) { e.Kind = KindWithdraw }), "attempt 1 does not fit"},
		"payload over the limit":      {resigned(func(e *Envelope) { e.Payload = make([]byte, KindCommit.MaxPayload()+1) }), "payload of 4097 bytes, at most 4096"},
	} {
		err := checkRefused(t, name, c.envelope)
		if !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%s: %q, want %q", name, err, c.want)
		}
	}
	for _, e := range []Envelope{good, sealed(signer.Seal(study, KindCommit, 1, make([]byte, KindCommit.MaxPayload()))).Envelope(), sealed(signer.Seal(study, KindWithdraw, 0, nil)).Envelope()} {
		if _, err := Verify(e); err != nil {
			t.Errorf("a good envelope of %d bytes: %v", len(e.Payload), err)
		}
	}
}

// With the identity as public key, R = identity and s = 0 is a signature of every message: package
// ed25519 accepts it, and Verify must not.
func TestNobodySignsForSmallOrderKeys(t *testing.T) {
	forgeries := 0
	for _, key := range smallOrder(t) {
		for _, point := range smallOrder(t) {
			e := Envelope{Study: StudyID{1}, Sender: PeerID(key), Kind: KindStop, Attempt: 1, Payload: []byte("anything")}
			e.Signature = append(point, make([]byte, 32)...)
			if ed25519.Verify(e.Sender[:], e.Preimage(), e.Signature) {
				forgeries++
			}
			if err := checkRefused(t, "forgery", e); !errors.Is(err, ErrSmallOrder) {
				t.Errorf("key %x: %v", key, err)
			}
		}
	}
	if forgeries == 0 {
		t.Error("no forgery would have verified: the test is blind")
	}
}

// secondSignature signs with another nonce than ed25519.Sign's: the signature is valid and has
// other bytes.
func secondSignature(t *testing.T, seed, message []byte) []byte {
	t.Helper()
	digest := sha512.Sum512(seed)
	secret, err := new(edwards25519.Scalar).SetBytesWithClamping(digest[:32])
	if err != nil {
		t.Fatal(err)
	}
	scalar := func(b []byte) *edwards25519.Scalar {
		h := sha512.Sum512(b)
		s, err := new(edwards25519.Scalar).SetUniformBytes(h[:])
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	nonce := scalar([]byte("another nonce"))
	r := new(edwards25519.Point).ScalarBaseMult(nonce).Bytes()
	public := new(edwards25519.Point).ScalarBaseMult(secret).Bytes()
	challenge := scalar(bytes.Join([][]byte{r, public, message}, nil))
	return append(r, new(edwards25519.Scalar).MultiplyAdd(challenge, secret, nonce).Bytes()...)
}

// The id of a message does not depend on which valid signature it has.
func TestIDIsWithoutTheSignature(t *testing.T) {
	first := sample(t)
	e := first.Envelope()
	e.Signature = secondSignature(t, bytes.Repeat([]byte{7}, 32), e.Preimage())
	if bytes.Equal(e.Signature, first.Envelope().Signature) {
		t.Fatal("the second signature is the first")
	}
	second, err := Verify(e)
	if err != nil {
		t.Fatal(err)
	}
	if second.ID() != first.ID() {
		t.Error("another signature makes another message")
	}
	if next := sealed(signerOf(t, 7).Seal(e.Study, e.Kind, e.Attempt, []byte("abd"))); next.ID() == first.ID() {
		t.Error("another payload makes the same message")
	}
}

// A node signs envelopes and heads, and libp2p signs handshakes and records, all with one key. No
// two of these can be the same bytes, because none of their prefixes is a prefix of another.
func TestSignedPrefixesAreDisjoint(t *testing.T) {
	prefixes := map[string]string{
		"envelope":      envelopePrefix,
		"head":          headPrefix,
		"TLS handshake": "libp2p-tls-handshake:",
		"Noise key":     "noise-libp2p-static-key:",
		"pubsub":        "libp2p-pubsub:",
		"IPNS":          "ipns-signature:",
		"HTTP auth":     "libp2p-PeerID",
	}
	for _, domain := range []string{"libp2p-peer-record", "libp2p-relay-rsvp"} {
		prefixes["record of "+domain] = string(binary.AppendUvarint(nil, uint64(len(domain)))) + domain
	}
	for a, pa := range prefixes {
		for b, pb := range prefixes {
			if a != b && strings.HasPrefix(pa, pb) {
				t.Errorf("what signs for %s begins like what signs for %s", a, b)
			}
		}
	}
	// A record's domain of any length collides only if it continues like our prefix.
	for _, prefix := range []string{envelopePrefix, headPrefix} {
		n, size := binary.Uvarint([]byte(prefix))
		if size != 1 || n != 'c' || !strings.HasPrefix(prefix[size:], "osketch/1/") || !strings.HasSuffix(prefix, "\x00") {
			t.Errorf("%q", prefix)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, k := range kinds {
		if !k.Known() || k.FromAggregator() == k.FromParty() || k.String() != string(k) || len(k) > MaxKind {
			t.Errorf("kind %s: known %v, of the aggregator %v, of a party %v", k, k.Known(), k.FromAggregator(), k.FromParty())
		}
	}
	for k, agreement := range map[Kind]bool{KindApprove: false, KindRoster: false, KindCommit: true, KindShare: true, KindConfirm: true, KindRelease: false} {
		if k.Agreement() != agreement {
			t.Errorf("kind %s of the seed agreement: %v", k, !agreement)
		}
	}
	for _, k := range []Kind{"", "jion", "APPROVE", "approve ", "head"} {
		if k.Known() || k.FromAggregator() || k.FromParty() || k.PreAttempt() {
			t.Errorf("kind %q is known", string(k))
		}
	}
}

// TestSignerHidesItsKey looks for the key in every fmt output of a signer.
func TestSignerHidesItsKey(t *testing.T) {
	seed := make([]byte, 32)
	for i := range seed {
		seed[i] = byte(0xa0 + i)
	}
	signer, err := NewSigner(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		t.Fatal(err)
	}
	leaks := []string{
		"a0a1a2a3", "A0A1A2A3", "a0 a1 a2", "A0 A1 A2", "160 161 162", "0xa0, 0xa1", "10100000 10100001", "240 241 242",
		"U+00A0 U+00A1", string(seed[:4]), fmt.Sprintf("%q", seed[:4]), fmt.Sprintf("%c", seed[:4]),
	}
	inner := struct {
		signer Signer
		Signer Signer
		point  *Signer
		list   []Signer
		table  map[string]Signer
		any    any
	}{signer, signer, &signer, []Signer{signer}, map[string]Signer{"a": signer}, signer}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%#x", "%d", "%b", "%o", "%O", "%c", "%U", "%t", "%e", "%g", "%p", "%T", "%z"} {
		for _, v := range []any{signer, &signer, inner, &inner, []any{signer}, [1]Signer{signer}, fmt.Errorf("bad %v", signer)} {
			out := fmt.Sprintf(verb, v)
			for _, leak := range leaks {
				if strings.Contains(out, leak) {
					t.Fatalf("%s of %T prints %q", verb, v, out)
				}
			}
		}
	}
	if out := fmt.Sprint(signer); out != "signer "+signer.ID().String() {
		t.Errorf("prints %q", out)
	}
	// The search does find a leak.
	if out := fmt.Sprint(struct{ key ed25519.PrivateKey }{ed25519.NewKeyFromSeed(seed)}); !strings.Contains(out, leaks[4]) {
		t.Fatalf("the search is blind: %q", out)
	}
}

func TestNewSigner(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	mixed := append(bytes.Clone(key[:32]), ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, 32))[32:]...)
	for name, bad := range map[string]ed25519.PrivateKey{
		"no key": nil, "a seed": ed25519.PrivateKey(key.Seed()), "a byte too many": append(bytes.Clone(key), 0), "two keys' halves": mixed,
	} {
		if s, err := NewSigner(bad); err == nil || s.ID() != (PeerID{}) {
			t.Errorf("%s: made %s, %v", name, s, err)
		}
	}
	signer, err := NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	clear(key) // the signer has its own copy of the key
	if _, err := Verify(sealed(signer.Seal(StudyID{1}, KindApprove, 0, nil)).Envelope()); err != nil {
		t.Error(err)
	}
}

func BenchmarkVerify(b *testing.B) {
	e := sample(b).Envelope()
	for b.Loop() {
		if _, err := Verify(e); err != nil {
			b.Fatal(err)
		}
	}
}

// A signature under another version of the protocol is recognised as such.
func TestSignaturesOfOtherVersions(t *testing.T) {
	seed := sha256.Sum256([]byte("identity"))
	key := ed25519.NewKeyFromSeed(seed[:])
	signer, err := NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	e := sealed(signer.Seal(StudyID{1}, KindApprove, 0, []byte("x"))).Envelope()
	for version, want := range map[string]bool{"2": true, "9": true, "a": false} {
		pre := bytes.Replace(e.Preimage(), []byte("cosketch/1/"), []byte("cosketch/"+version+"/"), 1)
		e.Signature = ed25519.Sign(key, pre)
		_, err := Verify(e)
		var d *Disagreement
		if !errors.Is(err, ErrSignature) || errors.As(err, &d) != want || want && d.Theirs != "cosketch/"+version {
			t.Errorf("version %s: %v", version, err)
		}
	}
}
