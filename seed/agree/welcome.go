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

// Invitation says which seed is passed on, from whom and to whom.
type Invitation struct {
	T2       [32]byte // of the attempt that produced the seed
	Join     [32]byte // id of the envelope that requested it
	Welcomer [32]byte
	Newcomer [32]byte
}

func (i Invitation) info() []byte {
	return transcript.Join(labelWelcome, i.T2[:], i.Join[:], i.Welcomer[:], i.Newcomer[:])
}

// ErrWelcome reports a welcome that does not open.
var ErrWelcome = errors.New("welcome does not open")

// Seal seals the seed to the holder of an ephemeral key. The ciphertext differs at every call. So
// store the signed envelope, and only ever re-send that.
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

// Accept opens a welcome that was sealed to these secrets' ephemeral key. It does not check that
// the seed is the study's: use the members' confirmations and Outcome.Check.
func (s *Secrets) Accept(i Invitation, sealed []byte) (seed.Seed, error) {
	plain, err := hpke.Open(secret.Reveal(s.hidden).ephemeral, kdf(), aead(), i.info(), sealed)
	if err != nil || len(plain) != seed.Size {
		return seed.Seed{}, ErrWelcome
	}
	defer clear(plain)
	return seed.FromBytes([seed.Size]byte(plain)), nil
}
