package protocol

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"filippo.io/edwards25519"
	"github.com/mr-tron/base58"
)

// PeerID is a node's identity: its raw Ed25519 public key. Its text form is the libp2p peer id of
// that key. Nodes are always ordered by these raw bytes.
type PeerID [ed25519.PublicKeySize]byte

// peerIDPrefix is the identity multihash (code 0, 36 bytes) of libp2p's
// protobuf-encoded Ed25519 public key, up to the key itself.
var peerIDPrefix = []byte{0x00, 0x24, 0x08, 0x01, 0x12, 0x20}

// peerIDLength is the length of every Ed25519 peer id in base58.
const peerIDLength = 52

// ErrSmallOrder is returned for a public key in the small subgroup, under which one signature can
// verify for many messages.
var ErrSmallOrder = errors.New("small-order ed25519 key")

// ParsePeerID reads the canonical base58 form of an Ed25519 peer id ("12D3KooW…"). It refuses every
// other spelling of the same key, keys of other types, points not on the curve and keys of small
// order.
func ParsePeerID(text string) (PeerID, error) {
	bad := func(why string) (PeerID, error) {
		return PeerID{}, fmt.Errorf("parsing peer id %.60q: %s", text, why)
	}
	const otherKind = "not an ed25519 peer id (those begin with 12D3KooW)"
	if len(text) != peerIDLength && strings.HasPrefix(text, "12D3KooW") {
		return bad(fmt.Sprintf("not an ed25519 peer id: %d characters, want %d (was it copied whole?)", len(text), peerIDLength))
	}
	if len(text) != peerIDLength {
		return bad(otherKind)
	}
	raw, err := base58.Decode(text)
	if err != nil {
		return bad("not base58")
	}
	if len(raw) != len(peerIDPrefix)+ed25519.PublicKeySize || !bytes.HasPrefix(raw, peerIDPrefix) {
		return bad(otherKind)
	}
	id, err := PeerIDFromKey(raw[len(peerIDPrefix):])
	if err != nil {
		return PeerID{}, fmt.Errorf("parsing peer id %q: %w", text, err)
	}
	if id.String() != text {
		return bad("not in canonical form (" + id.String() + " is)")
	}
	return id, nil
}

// PeerIDFromKey checks a raw Ed25519 public key and returns it as a PeerID.
func PeerIDFromKey(key []byte) (PeerID, error) {
	if len(key) != ed25519.PublicKeySize {
		return PeerID{}, fmt.Errorf("ed25519 key of %d bytes, want %d", len(key), ed25519.PublicKeySize)
	}
	point, err := new(edwards25519.Point).SetBytes(key)
	if err != nil || !bytes.Equal(point.Bytes(), key) {
		return PeerID{}, errors.New("not a canonical ed25519 point")
	}
	if new(edwards25519.Point).MultByCofactor(point).Equal(edwards25519.NewIdentityPoint()) == 1 {
		return PeerID{}, ErrSmallOrder
	}
	return PeerID(key), nil
}

// String returns the libp2p peer id in base58.
func (p PeerID) String() string {
	return base58.Encode(append(bytes.Clone(peerIDPrefix), p[:]...))
}

// Compare orders peers by raw public key, the order of every roster.
func (p PeerID) Compare(q PeerID) int { return bytes.Compare(p[:], q[:]) }

// StudyID is the SHA-256 of a study file's bytes.
type StudyID [32]byte

// ParseStudyID reads the 64 hexadecimal digits of a study id.
func ParseStudyID(text string) (StudyID, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(StudyID{}) {
		return StudyID{}, fmt.Errorf("parsing study id %q: want 64 hexadecimal digits", text)
	}
	return StudyID(raw), nil
}

// String returns the id in lower-case hexadecimal.
func (id StudyID) String() string { return hex.EncodeToString(id[:]) }

// Short returns the first eight characters, the form that people compare and type.
func (id StudyID) Short() string { return id.String()[:8] }

// String returns the digest in lower-case hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }
