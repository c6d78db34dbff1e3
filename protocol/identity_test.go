package protocol

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"filippo.io/edwards25519"
	"github.com/mr-tron/base58"
	"pgregory.net/rapid"
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// signerOf returns the signer whose seed is 32 times b.
func signerOf(t testing.TB, b byte) Signer {
	t.Helper()
	s, err := NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// knownPeers are the peer ids that go-libp2p gives to the Ed25519 keys of libp2p's
// peer id specification and of RFC 8032, section 7.1.
var knownPeers = []struct{ key, id string }{
	{"1ed1e8fae2c4a144b8be8fd4b47bf3d3b34b871c3cacf6010f0e42d474fce27e", "12D3KooWBtg3aaRMjxwedh83aGiUkwSxDwUZkzuJcfaqUmo7R3pq"},
	{"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "12D3KooWQK1wnefoLrcVHbbnf5tLzbopUd3K3bFAoJpA7YJgL5pV"},
	{"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "12D3KooWDwTirQce1RRKnasT5fPVFgzXCy6SiRgSwrwPGLC7zE91"},
	{"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "12D3KooWSoKFn4y7TtC1chE8CRkXdPZZfkjfNbTSUK5rjjp4oPHn"},
}

func TestPeerIDsAreThoseOfLibp2p(t *testing.T) {
	for _, known := range knownPeers {
		fromKey, err := PeerIDFromKey(unhex(t, known.key))
		if err != nil {
			t.Fatalf("%s: %v", known.key, err)
		}
		if fromKey.String() != known.id {
			t.Errorf("key %s is peer %s, want %s", known.key, fromKey, known.id)
		}
		if parsed, err := ParsePeerID(known.id); err != nil || parsed != fromKey {
			t.Errorf("parsing %s: %x, %v", known.id, parsed, err)
		}
	}
}

// Every id has the length that ParsePeerID accepts: the id grows with the key.
func TestPeerIDLength(t *testing.T) {
	for _, b := range []byte{0x00, 0xff} {
		id := PeerID(bytes.Repeat([]byte{b}, 32)).String()
		if len(id) != peerIDLength || !strings.HasPrefix(id, "12D3KooW") {
			t.Errorf("key of %#x: %s, %d characters", b, id, len(id))
		}
	}
}

func TestPeerIDRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed")
		id, err := PeerIDFromKey(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParsePeerID(id.String()); err != nil || again != id {
			t.Fatalf("%s: %s, %v", id, again, err)
		}
	})
}

func TestParsePeerIDRefuses(t *testing.T) {
	good := knownPeers[0].id
	key := unhex(t, knownPeers[0].key)
	spell := func(prefix string, key []byte) string {
		return base58.Encode(append(unhex(t, prefix), key...))
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                {"", "not an ed25519 peer id"},
		"a space before":         {" " + good, "not an ed25519 peer id"},
		"a line feed after":      {good + "\n", "not an ed25519 peer id"},
		"a zero byte before":     {"1" + good, "not an ed25519 peer id"},
		"one character missing":  {good[:51], "not an ed25519 peer id"},
		"a letter not in base58": {good[:51] + "0", "not base58"},
		"not ASCII":              {good[:50] + "é", "not base58"},
		"CID in base32":          {"bafzaajaiaejca" + strings.Repeat("a", 48), "not an ed25519 peer id"},
		"CIDv1 of the key":       {spell("0172002408011220", key), "not an ed25519 peer id"},
		"the key alone":          {spell("", key), "not an ed25519 peer id"},
		"SHA-256 of an RSA key":  {"QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N", "not an ed25519 peer id"},
		"secp256k1 key type":     {spell("002408021220", key), "not an ed25519 peer id"},
		"protobuf fields turned": {spell("00241220", append(key[:32:32], 0x08, 0x01)), "not an ed25519 peer id"},
		"a megabyte":             {strings.Repeat("z", 1<<20), "not an ed25519 peer id"},
		"point not on the curve": {spell("002408011220", append([]byte{2}, make([]byte, 31)...)), "not a canonical ed25519 point"},
		"identity point":         {spell("002408011220", append([]byte{1}, make([]byte, 31)...)), ErrSmallOrder.Error()},
	} {
		id, err := ParsePeerID(c.text)
		if err == nil || id != (PeerID{}) {
			t.Errorf("%s: accepted %q as %s", name, c.text, id)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || len(err.Error()) > 200 {
			t.Errorf("%s: %.200v, want %q in at most 200 bytes", name, err, c.want)
		}
	}
}

// smallOrder returns the encodings of the eight points of the small subgroup: the
// multiples of a point of order eight.
func smallOrder(t *testing.T) [][]byte {
	t.Helper()
	eighth, err := new(edwards25519.Point).SetBytes(unhex(t, "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"))
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	point := edwards25519.NewIdentityPoint()
	for range 8 {
		if slices.ContainsFunc(all, func(b []byte) bool { return bytes.Equal(b, point.Bytes()) }) {
			t.Fatal("the point's order is less than eight")
		}
		all = append(all, point.Bytes())
		point.Add(point, eighth)
	}
	if point.Equal(edwards25519.NewIdentityPoint()) != 1 {
		t.Fatal("the point's order is more than eight")
	}
	return all
}

func TestSmallOrderKeysAreRefused(t *testing.T) {
	for _, key := range smallOrder(t) {
		if _, err := PeerIDFromKey(key); !errors.Is(err, ErrSmallOrder) {
			t.Errorf("key %x: %v", key, err)
		}
		if _, err := ParsePeerID(PeerID(key).String()); !errors.Is(err, ErrSmallOrder) {
			t.Errorf("peer id of key %x: %v", key, err)
		}
	}
}

// A second encoding of a point is refused: those of points with y below 19, written as y + p, and
// those of points with x = 0, written with a sign.
func TestNonCanonicalKeysAreRefused(t *testing.T) {
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	littleEndian := func(n *big.Int) []byte {
		b := n.FillBytes(make([]byte, 32))
		slices.Reverse(b)
		return b
	}
	var keys [][]byte
	for y := range int64(19) {
		keys = append(keys, littleEndian(new(big.Int).Add(p, big.NewInt(y))))
	}
	keys = append(keys, littleEndian(big.NewInt(1)), littleEndian(new(big.Int).Sub(p, big.NewInt(1))))
	decoded := 0
	for i, key := range keys {
		for _, sign := range []byte{0x00, 0x80} {
			if i >= 19 && sign == 0 {
				continue // y = ±1 without a sign are canonical, and of small order
			}
			key := bytes.Clone(key)
			key[31] |= sign
			if _, err := new(edwards25519.Point).SetBytes(key); err == nil {
				decoded++
			}
			if _, err := PeerIDFromKey(key); err == nil || errors.Is(err, ErrSmallOrder) {
				t.Errorf("key %x: %v", key, err)
			}
		}
	}
	if decoded < 6 {
		t.Errorf("only %d of the keys decode as points at all: the test is blind", decoded)
	}
}

func TestPeerIDFromKeyRefusesLengths(t *testing.T) {
	key := unhex(t, knownPeers[0].key)
	for _, bad := range [][]byte{nil, {}, key[:31], append(key[:32:32], 0)} {
		if _, err := PeerIDFromKey(bad); err == nil {
			t.Errorf("accepted a key of %d bytes", len(bad))
		}
	}
}

// The order is that of the raw keys read as big-endian numbers, and total.
func TestPeerOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few distinct bytes, so that keys share prefixes and are sometimes equal.
		draw := func(name string) (id PeerID) {
			copy(id[30:], rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}), 2, 2).Draw(t, name))
			return id
		}
		p, q := draw("p"), draw("q")
		if want := new(big.Int).SetBytes(p[:]).Cmp(new(big.Int).SetBytes(q[:])); p.Compare(q) != want || q.Compare(p) != -want {
			t.Fatalf("%x against %x: %d, want %d", p, q, p.Compare(q), want)
		}
	})
}

func TestParseStudyID(t *testing.T) {
	text := "0123456789abcdef" + strings.Repeat("00", 23) + "ff"
	id, err := ParseStudyID(text)
	if err != nil || id.String() != text || id.Short() != "01234567" || id[31] != 0xff {
		t.Fatalf("%s (%s), %v", id, id.Short(), err)
	}
	if upper, err := ParseStudyID(strings.ToUpper(text)); err != nil || upper != id {
		t.Errorf("in capitals: %s, %v", upper, err)
	}
	for _, bad := range []string{"", text[:62], text + "00", text[:63], text[:62] + "0g", " " + text[1:]} {
		if _, err := ParseStudyID(bad); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}

// FuzzParsePeerID checks that only the canonical spelling of a key is accepted.
func FuzzParsePeerID(f *testing.F) {
	for _, known := range knownPeers {
		f.Add(known.id)
		f.Add("1" + known.id)
	}
	if len(knownPeers) == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ParsePeerID(text)
		if err != nil {
			return
		}
		if id.String() != text {
			t.Fatalf("%q is %s", text, id)
		}
		if _, err := PeerIDFromKey(id[:]); err != nil {
			t.Fatalf("%s parses, but its key is refused: %v", id, err)
		}
	})
}
