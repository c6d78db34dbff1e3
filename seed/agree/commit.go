package agree

import (
	"crypto/hpke"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/seed/secret"
	"github.com/cosketch/cosketch/seed/transcript"
)

// Commit is the first message: an ephemeral public key, and a commitment to the
// member's contribution.
type Commit struct {
	EphemeralKey []byte // MLKEM768-X25519 public key
	Commitment   [32]byte
}

// Secrets holds one member's secrets of one attempt. They suffice to recompute the seed from the
// board. So they are stored in one file (0600) outside the database, and destroyed together with
// the certificate. They are never printed, and encoded only by MarshalBinary, see secret.Of.
type Secrets struct {
	study   [32]byte
	attempt uint32
	self    [32]byte
	hidden
}

type hidden = secret.Of[drawn]

// drawn holds what a member draws for an attempt.
type drawn struct {
	contribution [32]byte
	blinder      [32]byte
	pairKey      [32]byte // this member's half of every pairwise secret is derived from it
	ephemeral    hpke.PrivateKey
}

// Begin draws one member's secrets for an attempt from entropy.
func Begin(study [32]byte, attempt uint32, self [32]byte, entropy io.Reader) (*Secrets, error) {
	var h drawn
	var ikm [32]byte
	for _, dst := range [][]byte{h.contribution[:], h.blinder[:], h.pairKey[:], ikm[:]} {
		if _, err := io.ReadFull(entropy, dst); err != nil {
			return nil, fmt.Errorf("drawing agreement secrets: %w", err)
		}
	}
	key, err := kem().DeriveKeyPair(ikm[:])
	if err != nil {
		return nil, fmt.Errorf("deriving ephemeral key: %w", err)
	}
	h.ephemeral = key
	return &Secrets{study: study, attempt: attempt, self: self, hidden: secret.New(h)}, nil
}

// Commit returns the member's first message. Every call returns the same message.
func (s *Secrets) Commit() Commit {
	h := secret.Reveal(s.hidden)
	return Commit{
		EphemeralKey: h.ephemeral.PublicKey().Bytes(),
		Commitment:   commitment(s.study, s.attempt, s.self, h.contribution[:], h.blinder[:]),
	}
}

func commitment(study [32]byte, attempt uint32, member [32]byte, contribution, blinder []byte) [32]byte {
	return transcript.Hash(labelCommitment, study[:], transcript.Uint32(attempt), member[:], contribution, blinder)
}

// Check returns an error if others cannot seal to the commit's ephemeral key.
func (c Commit) Check() error {
	if err := CheckKey(c.EphemeralKey); err != nil {
		return fmt.Errorf("%w: %w", ErrEphemeralKey, err)
	}
	return nil
}

// CheckKey returns an error if others cannot seal to an MLKEM768-X25519 public key. A key whose
// X25519 half has low order can be parsed, but sealing to it would fail.
func CheckKey(key []byte) error {
	if _, err := kem().NewPublicKey(key); err != nil {
		return err
	}
	if lowOrder([32]byte(key[len(key)-32:])) {
		return errors.New("its X25519 half has low order")
	}
	return nil
}

// lowOrder reports whether an X25519 public key gives an all-zero shared secret with every private
// key: RFC 7748, section 6.1. The highest bit is ignored (section 5).
func lowOrder(u [32]byte) bool {
	u[31] &= 0x7f
	const p = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f" // all bytes but the first
	switch hex.EncodeToString(u[:]) {
	case "0000000000000000000000000000000000000000000000000000000000000000", // orders 1 and 2
		"0100000000000000000000000000000000000000000000000000000000000000", "ec" + p, // 4, on the curve and its twist
		"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800", // 8
		"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
		"ed" + p, "ee" + p: // 0 and 1, not reduced
		return true
	}
	return false
}

// secretsVersion is the first byte of the encoded secrets.
const secretsVersion = 1

const secretsFixed = 1 + 32 + 4 + 32 + 32 + 32 + 32

// MarshalBinary encodes the secrets for the file that stores them.
func (s *Secrets) MarshalBinary() ([]byte, error) {
	h := secret.Reveal(s.hidden)
	key, err := h.ephemeral.Bytes()
	if err != nil {
		return nil, fmt.Errorf("encoding ephemeral key: %w", err)
	}
	b := make([]byte, 0, secretsFixed+len(key))
	b = append(b, secretsVersion)
	b = append(b, s.study[:]...)
	b = append(b, transcript.Uint32(s.attempt)...)
	b = append(b, s.self[:]...)
	b = append(b, h.contribution[:]...)
	b = append(b, h.blinder[:]...)
	b = append(b, h.pairKey[:]...)
	return append(b, key...), nil
}

// ParseSecrets decodes the output of MarshalBinary. It returns an error if the secrets belong to
// another study, attempt or member.
func ParseSecrets(b []byte, study [32]byte, attempt uint32, self [32]byte) (*Secrets, error) {
	if len(b) < secretsFixed || b[0] != secretsVersion {
		return nil, errors.New("parsing agreement secrets: wrong length or version")
	}
	rest := b[1:]
	take := func(n int) []byte {
		field := rest[:n]
		rest = rest[n:]
		return field
	}
	s := &Secrets{study: [32]byte(take(32)), attempt: binary.BigEndian.Uint32(take(4)), self: [32]byte(take(32))}
	if s.study != study || s.attempt != attempt || s.self != self {
		return nil, errors.New("parsing agreement secrets: they belong to another study, attempt or member")
	}
	h := drawn{contribution: [32]byte(take(32)), blinder: [32]byte(take(32)), pairKey: [32]byte(take(32))}
	var err error
	if h.ephemeral, err = kem().NewPrivateKey(rest); err != nil {
		return nil, fmt.Errorf("parsing agreement secrets: %w", err)
	}
	s.hidden = secret.New(h)
	return s, nil
}
