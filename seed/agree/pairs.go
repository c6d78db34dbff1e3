package agree

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/seed/secret"
	"github.com/cosketch/cosketch/seed/transcript"
)

const labelPairSecret = "cosketch/1/agree/pair secret"

// Pairs holds the secrets of one attempt that one member shares with each other member alone. Masks
// are drawn from them. They are stored in the file of secrets until the masked release is stored,
// and destroyed with it. The zero Pairs has no members. They are never printed, and encoded only by
// MarshalBinary, see secret.Of.
type Pairs struct {
	self int
	pairKeys
}

type pairKeys = secret.Of[[][32]byte]

// keys returns one key for each member, with zeros for the member itself; nil for the zero Pairs.
func (p Pairs) keys() [][32]byte {
	if keys := secret.Reveal(p.pairKeys); keys != nil {
		return *keys
	}
	return nil
}

// Members returns the number of members of the attempt; 0 for the zero Pairs.
func (p Pairs) Members() int { return len(p.keys()) }

// Self returns the member's own place in the roster, from 0.
func (p Pairs) Self() int { return p.self }

// With returns the secret shared with another member, given its place in the roster. The other
// member has the same secret.
func (p Pairs) With(member int) ([32]byte, error) {
	if member < 0 || member >= p.Members() || member == p.self {
		return [32]byte{}, fmt.Errorf("member %d has no secret with member %d of %d", p.self, member, p.Members())
	}
	return p.keys()[member], nil
}

// Destroy overwrites the secrets, in all copies of these Pairs.
func (p Pairs) Destroy() { clear(p.keys()) }

// pairSecret returns the secret from which two members draw their masks: HKDF over both halves,
// that of the member with the lower place first. Each half is uniform if its sender is honest, and
// sealed to the other member only. So nobody else can compute the secret if both are honest.
func pairSecret(t1 [32]byte, i, j int, own, theirs []byte) ([32]byte, error) {
	if j < i {
		i, j, own, theirs = j, i, theirs, own
	}
	ikm := append(append(make([]byte, 0, 64), own...), theirs...)
	defer clear(ikm)
	info := transcript.Join(labelPairSecret, transcript.Uint32(uint32(i)), transcript.Uint32(uint32(j)))
	key, err := hkdf.Key(sha256.New, ikm, t1[:], string(info), 32)
	if err != nil {
		return [32]byte{}, err
	}
	return [32]byte(key), nil
}

// pairs combines this member's halves with those in the opened shares; the entry at the member's
// own place is ignored.
func (s *Secrets) pairs(t1 [32]byte, self int, halves [][]byte) (Pairs, error) {
	keys := make([][32]byte, len(halves))
	for j, theirs := range halves {
		if j == self {
			continue
		}
		own, err := s.pairHalf(t1, j)
		if err != nil {
			return Pairs{}, err
		}
		if keys[j], err = pairSecret(t1, self, j, own, theirs); err != nil {
			return Pairs{}, err
		}
	}
	return Pairs{self, secret.New(keys)}, nil
}

// MarshalBinary encodes the pairs for the file of secrets.
func (p Pairs) MarshalBinary() ([]byte, error) {
	if p.Members() == 0 {
		return nil, errors.New("encoding pairwise secrets: there are none")
	}
	b := append(transcript.Uint32(uint32(p.self)), transcript.Uint32(uint32(p.Members()))...)
	for _, key := range p.keys() {
		b = append(b, key[:]...)
	}
	return b, nil
}

// ParsePairs decodes the output of MarshalBinary.
func ParsePairs(b []byte) (Pairs, error) {
	if len(b) < 8 {
		return Pairs{}, errors.New("parsing pairwise secrets: too short")
	}
	self, n := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if n < 2 || n > MaxMembers || self >= n || len(b) != 8+32*int(n) {
		return Pairs{}, errors.New("parsing pairwise secrets: wrong length")
	}
	keys := make([][32]byte, n)
	for i := range keys {
		keys[i] = [32]byte(b[8+32*i:])
	}
	return Pairs{int(self), secret.New(keys)}, nil
}
