package agree

import (
	"bytes"
	"crypto/hpke"
	"errors"
	"testing"

	"github.com/cosketch/cosketch/seed"
)

// invited returns a newcomer's secrets, and an invitation to it.
func invited(t *testing.T) (*Secrets, Invitation) {
	t.Helper()
	self := [32]byte{9}
	s, err := Begin([32]byte{'s'}, 1, self, entropyOf(self))
	if err != nil {
		t.Fatal(err)
	}
	return s, Invitation{T2: [32]byte{1}, Join: [32]byte{2}, Welcomer: [32]byte{3}, Newcomer: self}
}

// A welcome gives the seed to the newcomer only, and only for the invitation it was sealed for.
func TestWelcome(t *testing.T) {
	newcomer, i := invited(t)
	root := seed.FromBytes([seed.Size]byte{1, 2, 3})
	sealed, err := i.Seal(root, newcomer.Commit().EphemeralKey)
	if err != nil {
		t.Fatal(err)
	}
	if len(sealed) != WelcomeSize {
		t.Errorf("a welcome has %d bytes, want %d", len(sealed), WelcomeSize)
	}
	if got, err := newcomer.Accept(i, sealed); err != nil || !got.Equal(root) {
		t.Errorf("the newcomer does not get the seed: %v", err)
	}
	again, err := i.Seal(root, newcomer.Commit().EphemeralKey)
	if err != nil || bytes.Equal(again, sealed) {
		t.Errorf("two welcomes are alike: %v", err)
	}

	other, err := Begin([32]byte{'s'}, 1, [32]byte{8}, entropyOf([32]byte{8}))
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, by *Secrets, i Invitation, sealed []byte) {
		t.Helper()
		if got, err := by.Accept(i, sealed); !errors.Is(err, ErrWelcome) || !got.IsZero() {
			t.Errorf("%s opens: %v", what, err)
		}
	}
	refused("another's welcome", other, i, sealed)
	for what, change := range map[string]func(*Invitation){
		"of another seed":     func(i *Invitation) { i.T2[0]++ },
		"for another asking":  func(i *Invitation) { i.Join[31]++ },
		"by another welcomer": func(i *Invitation) { i.Welcomer[0]++ },
		"of another newcomer": func(i *Invitation) { i.Newcomer[5]++ },
		"with parts swapped":  func(i *Invitation) { i.T2, i.Join = i.Join, i.T2 },
	} {
		changed := i
		change(&changed)
		refused(what, newcomer, changed, sealed)
	}
	for _, at := range []int{0, 1088, len(sealed) - 1} {
		changed := bytes.Clone(sealed)
		changed[at] ^= 1
		refused("a changed one", newcomer, i, changed)
	}
	for _, n := range []int{0, 1, len(sealed) - 1} {
		refused("one that is cut off", newcomer, i, sealed[:n])
	}
	refused("one with more behind it", newcomer, i, append(bytes.Clone(sealed), 0))

	key, err := kem().NewPublicKey(newcomer.Commit().EphemeralKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, seed.Size - 1, seed.Size + 1} { // sealed correctly, but not a seed
		sealed, err := hpke.Seal(key, kdf(), aead(), i.info(), make([]byte, n))
		if err != nil {
			t.Fatal(err)
		}
		refused("one without a seed", newcomer, i, sealed)
	}
}

// Seal refuses an invalid key.
func TestWelcomeNeedsAKey(t *testing.T) {
	newcomer, i := invited(t)
	key := newcomer.Commit().EphemeralKey
	for _, bad := range [][]byte{nil, key[:len(key)-1], append(bytes.Clone(key), 0), bytes.Repeat([]byte{0xff}, len(key))} {
		if sealed, err := i.Seal(seed.FromBytes([seed.Size]byte{1}), bad); !errors.Is(err, ErrEphemeralKey) || sealed != nil {
			t.Errorf("sealed to %d bytes: %v", len(bad), err)
		}
	}
	zero := bytes.Clone(key)
	clear(zero[len(zero)-32:]) // a point of low order, which is detected only when sealing
	if sealed, err := i.Seal(seed.FromBytes([seed.Size]byte{1}), zero); !errors.Is(err, ErrEphemeralKey) || sealed != nil {
		t.Errorf("sealed to a key of low order: %v", err)
	}
}
