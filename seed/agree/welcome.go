package agree

import (
	"crypto/hpke"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/secret"
	"github.com/cosketch/cosketch/seed/transcript"
)

const labelWelcome = "cosketch/1/agree/welcome"

// WelcomeSize is the length of a sealed welcome in bytes.
const WelcomeSize = 1088 + 32 + seed.Size + 16

// Invitation says from whom to whom a seed is handed on, and which one.
type Invitation struct {
	T2       [32]byte // of the attempt that gave the seed
	Join     [32]byte // id of the envelope that asked for it
	Welcomer [32]byte
	Newcomer [32]byte
}

func (i Invitation) info() []byte {
	return transcript.Join(labelWelcome, i.T2[:], i.Join[:], i.Welcomer[:], i.Newcomer[:])
}

// ErrWelcome reports a welcome that does not open.
var ErrWelcome = errors.New("welcome does not open")

// Seal hands the seed on to the holder of an ephemeral key. The ciphertext differs
// at every call: persist the signed envelope, and ever re-send only that.
func (i Invitation) Seal(root seed.Seed, ephemeralKey []byte) ([]byte, error) {
	key, err := kem().NewPublicKey(ephemeralKey)
	if err != nil {
		return nil, fmt.Errorf("welcoming: %w: %v", ErrEphemeralKey, err)
	}
	plain := root.Bytes()
	defer clear(plain[:])
	sealed, err := hpke.Seal(key, kdf(), aead(), i.info(), plain[:])
	if err != nil {
		return nil, fmt.Errorf("welcoming: %w: %v", ErrEphemeralKey, err)
	}
	return sealed, nil
}

// Accept opens a welcome to these secrets' ephemeral key. Whether the seed is that
// of the study is for the members' confirmations to say: Outcome.Check.
func (s *Secrets) Accept(i Invitation, sealed []byte) (seed.Seed, error) {
	plain, err := hpke.Open(secret.Reveal(s.hidden).ephemeral, kdf(), aead(), i.info(), sealed)
	if err != nil || len(plain) != seed.Size {
		return seed.Seed{}, ErrWelcome
	}
	defer clear(plain)
	return seed.FromBytes([seed.Size]byte(plain)), nil
}
