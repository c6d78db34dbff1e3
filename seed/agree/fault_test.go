package agree

import (
	"bytes"
	"crypto/hpke"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/seed/secret"
)

// checkFault asserts that an error blames one member for one thing.
func checkFault(t *testing.T, what string, err error, member int, cause error) {
	t.Helper()
	var fault *Fault
	if !errors.As(err, &fault) || fault.Member != member || !errors.Is(err, cause) {
		t.Errorf("%s: %v, want member %d: %v", what, err, member, cause)
	}
}

// seal returns what one member would send another, with a chosen plaintext.
func (a *attempt) seal(t *testing.T, from, to int, plain []byte) []byte {
	t.Helper()
	key, err := kem().NewPublicKey(a.commits[to].Message.EphemeralKey)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := hpke.Seal(key, kdf(), aead(), shareInfo(a.group.T1(ids(a.commits)), from, to), plain)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// cloned returns a copy of the attempt whose shares a test may change.
func (a *attempt) cloned() *attempt {
	b := *a
	b.commits, b.shares = slices.Clone(a.commits), slices.Clone(a.shares)
	for i := range b.shares {
		b.shares[i].Message.Sealed = slices.Clone(a.shares[i].Message.Sealed)
	}
	return &b
}

// Every misbehaviour is detected by the members it harms, who blame its author. The others obtain
// the seed.
func TestSharingFaults(t *testing.T) {
	const n = 4
	honest := shared(t, group(n))
	replayed := group(n)
	replayed.Attempt = 2
	earlier := shared(t, replayed) // this happens to have the same ephemeral keys
	contribution := func(i int) []byte {
		h := secret.Reveal(honest.secrets[i].hidden)
		return slices.Concat(h.contribution[:], h.blinder[:], make([]byte, 32))
	}
	for name, c := range map[string]struct {
		do      func(*attempt)
		culprit int
		victims []int
		want    error
	}{
		"a bad share for one": {func(a *attempt) {
			sealed := bytes.Clone(a.shares[1].Message.Sealed[place(1, 2)])
			sealed[len(sealed)-1] ^= 1
			a.shares[1].Message.Sealed[place(1, 2)] = sealed
		}, 1, []int{2}, ErrShareSealed},
		"a bad encapsulation for one": {func(a *attempt) {
			sealed := bytes.Clone(a.shares[3].Message.Sealed[place(3, 0)])
			sealed[0] ^= 1
			a.shares[3].Message.Sealed[place(3, 0)] = sealed
		}, 3, []int{0}, ErrShareSealed},
		"zeros for one": {func(a *attempt) {
			a.shares[0].Message.Sealed[place(0, 3)] = make([]byte, SealedSize)
		}, 0, []int{3}, ErrShareSealed},
		"swapped shares": {func(a *attempt) {
			s := a.shares[0].Message.Sealed
			s[place(0, 1)], s[place(0, 3)] = s[place(0, 3)], s[place(0, 1)]
		}, 0, []int{1, 3}, ErrShareSealed},
		"shares of another attempt": {func(a *attempt) { a.shares[2] = earlier.shares[2] }, 2, []int{0, 1, 3}, ErrTranscript},
		"shares of another attempt, as this one's": {func(a *attempt) {
			t1 := a.shares[2].Message.T1
			a.shares[2] = earlier.shares[2]
			a.shares[2].Message.T1 = t1
		}, 2, []int{0, 1, 3}, ErrShareSealed},
		"shares of another member": {func(a *attempt) { a.shares[2].Message = a.shares[1].Message }, 2, []int{0, 1, 3}, ErrShareSealed},
		"another contribution for one": {func(a *attempt) {
			plain := contribution(2)
			plain[0] ^= 1
			a.shares[2].Message.Sealed[place(2, 1)] = a.seal(t, 2, 1, plain)
		}, 2, []int{1}, ErrCommitment},
		"another blinder for one": {func(a *attempt) {
			plain := contribution(2)
			plain[63] ^= 1
			a.shares[2].Message.Sealed[place(2, 1)] = a.seal(t, 2, 1, plain)
		}, 2, []int{1}, ErrCommitment},
		"the contribution of another": {func(a *attempt) {
			a.shares[0].Message.Sealed[place(0, 2)] = a.seal(t, 0, 2, contribution(1))
		}, 0, []int{2}, ErrCommitment},
		"no shares":        {func(a *attempt) { a.shares[3].Message.Sealed = nil }, 3, []int{0, 1, 2}, ErrShareForm},
		"a share missing":  {func(a *attempt) { a.shares[3].Message.Sealed = a.shares[3].Message.Sealed[1:] }, 3, []int{0, 1, 2}, ErrShareForm},
		"a share too many": {func(a *attempt) { m := &a.shares[3].Message; m.Sealed = append(m.Sealed, m.Sealed[0]) }, 3, []int{0, 1, 2}, ErrShareForm},
		"a short share": {func(a *attempt) {
			// All members refuse the malformed share, even if their own text is good.
			a.shares[3].Message.Sealed[0] = a.shares[3].Message.Sealed[0][:SealedSize-1]
		}, 3, []int{0, 1, 2}, ErrShareForm},
		"a plaintext of another size": {func(a *attempt) {
			a.shares[3].Message.Sealed[0] = a.seal(t, 3, 0, append(contribution(3), 0))
		}, 3, []int{0, 1, 2}, ErrShareForm},
		"two culprits": {func(a *attempt) {
			a.shares[3].Message.Sealed = nil
			a.shares[1].Message.Sealed = nil
		}, 1, []int{0, 2}, ErrShareForm}, // the first in roster order is blamed
	} {
		a := honest.cloned()
		c.do(a)
		for i, s := range a.secrets {
			o, err := s.Open(a.group, a.commits, a.shares)
			switch {
			case slices.Contains(c.victims, i):
				checkFault(t, fmt.Sprintf("%s, at member %d", name, i), err, c.culprit, c.want)
				if !o.Seed.IsZero() {
					t.Errorf("%s: member %d has a seed", name, i)
				}
			case name == "two culprits":
				// Each culprit is the victim of the other.
			case err != nil || !o.Seed.Equal(honest.open(t, 0).Seed):
				t.Errorf("%s: member %d, whom it does not harm: %v", name, i, err)
			}
		}
	}
}

// A member cannot copy another's commitment and, once it has seen that contribution, the
// contribution. Otherwise contributions could be made to cancel or repeat.
func TestCommitmentsCannotBeCopied(t *testing.T) {
	a := committed(t, group(3))
	a.commits[2].Message.Commitment = a.commits[1].Message.Commitment
	for i := range 2 {
		a.shares = append(a.shares, a.share(t, i))
	}
	copied := secret.Reveal(a.secrets[1].hidden)
	plain := slices.Concat(copied.contribution[:], copied.blinder[:], make([]byte, 32))
	a.shares = append(a.shares, post(a.group.Members[2], Share{T1: a.group.T1(ids(a.commits)), Sealed: [][]byte{a.seal(t, 2, 0, plain), a.seal(t, 2, 1, plain)}}))
	for i := range 2 {
		_, err := a.secrets[i].Open(a.group, a.commits, a.shares)
		checkFault(t, fmt.Sprintf("member %d", i), err, 2, ErrCommitment)
	}
}

// x25519LowOrder lists the u coordinates of the points of order 1, 2, 4 and 8 on the curve and its
// twist, and their encodings that are not reduced modulo the prime.
var x25519LowOrder = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
	"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

// badKeys returns ephemeral keys that nobody can seal to, by name, and how many of them can be
// parsed nevertheless.
func badKeys(t *testing.T) (keys map[string][]byte, parse int) {
	t.Helper()
	good := committed(t, group(2)).commits[0].Message.EphemeralKey
	keys = map[string][]byte{
		"nothing":         nil,
		"a byte less":     good[:len(good)-1],
		"a byte more":     append(bytes.Clone(good), 0),
		"an X25519 key":   good[1184:],
		"an ML-KEM key":   good[:1184],
		"halves swapped":  slices.Concat(good[1184:], good[:1184]),
		"ones":            bytes.Repeat([]byte{0xff}, len(good)),
		"a value above q": slices.Concat([]byte{0xff, 0xff, 0xff}, good[3:]),
	}
	for _, u := range x25519LowOrder {
		half, err := hex.DecodeString(u)
		if err != nil {
			t.Fatal(err)
		}
		keys["low order "+u] = slices.Concat(good[:1184], half)
	}
	for _, key := range keys {
		if _, err := kem().NewPublicKey(key); err == nil {
			parse++
		}
	}
	return keys, parse
}

// Check refuses exactly the keys that nobody can seal to. This includes keys with the ignored bit
// set; keys next to each point of low order are accepted.
func TestCheckKnowsWhatCanBeSealedTo(t *testing.T) {
	good := committed(t, group(2)).commits[0].Message.EphemeralKey
	refused := 0
	for _, u := range x25519LowOrder {
		for _, change := range []struct{ at, bit byte }{{31, 0}, {31, 0x80}, {31, 0x40}, {0, 1}, {0, 2}, {0, 4}, {16, 1}} {
			half, err := hex.DecodeString(u)
			if err != nil {
				t.Fatal(err)
			}
			half[change.at] ^= change.bit
			key := slices.Concat(good[:len(good)-32], half)
			parsed, err := kem().NewPublicKey(key)
			if err != nil {
				t.Fatal(err)
			}
			_, sealing := hpke.Seal(parsed, kdf(), aead(), nil, nil)
			if got := (Commit{EphemeralKey: key}).Check(); (got == nil) != (sealing == nil) {
				t.Errorf("%x: checked %v, sealed to %v", half, got, sealing)
			}
			if sealing != nil {
				refused++
			}
		}
	}
	if refused < 2*len(x25519LowOrder) {
		t.Errorf("%d keys cannot be sealed to", refused)
	}
}

func TestUnusableEphemeralKeys(t *testing.T) {
	keys, parse := badKeys(t)
	if parse < len(x25519LowOrder) {
		t.Errorf("%d of the keys parse: those with a half of low order were to fail only when sealed to", parse)
	}
	honest := committed(t, group(3))
	for name, key := range keys {
		a := honest.cloned()
		a.commits[1].Message.EphemeralKey = key
		if err := a.commits[1].Message.Check(); !errors.Is(err, ErrEphemeralKey) {
			t.Errorf("%s: %v", name, err)
		}
		for _, i := range []int{0, 2} {
			sh, err := a.secrets[i].Share(a.group, a.commits)
			checkFault(t, fmt.Sprintf("%s, at member %d", name, i), err, 1, ErrEphemeralKey)
			if sh.Sealed != nil {
				t.Errorf("%s: member %d shares with some", name, i)
			}
		}
	}
}

func TestConfirmationFaults(t *testing.T) {
	a := shared(t, group(3))
	mine, good := a.open(t, 0), a.confirm(t, 1)
	otherStudy := group(3)
	otherStudy.Study[0] ^= 1
	foreign := shared(t, otherStudy).confirm(t, 1)
	for name, c := range map[string]struct {
		change func(*Confirm)
		want   error
	}{
		"good":                    {func(*Confirm) {}, nil},
		"a bit of the tag":        {func(c *Confirm) { c.Tag[31] ^= 0x80 }, ErrConfirmTag},
		"no tag":                  {func(c *Confirm) { c.Tag = [32]byte{} }, ErrConfirmTag},
		"another member's tag":    {func(c *Confirm) { c.Tag = a.confirm(t, 2).Tag }, ErrConfirmTag},
		"the checker's own tag":   {func(c *Confirm) { c.Tag = a.confirm(t, 0).Tag }, ErrConfirmTag},
		"another seed's tag":      {func(c *Confirm) { c.Tag = foreign.Tag }, ErrConfirmTag},
		"a bit of T1":             {func(c *Confirm) { c.T1[0] ^= 1 }, ErrTranscript},
		"a bit of T2":             {func(c *Confirm) { c.T2[0] ^= 1 }, ErrTranscript},
		"transcripts swapped":     {func(c *Confirm) { c.T1, c.T2 = c.T2, c.T1 }, ErrTranscript},
		"another agreement's all": {func(c *Confirm) { *c = foreign }, ErrTranscript},
	} {
		confirm := good
		c.change(&confirm)
		if err := mine.Check(a.group.Members[1], confirm); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	// A member with the transcripts but no seed can neither confirm nor check.
	var outsider Outcome
	outsider.T1, outsider.T2 = mine.T1, mine.T2
	if _, err := outsider.Confirm(a.group.Members[1]); err == nil {
		t.Error("confirmed without a seed")
	}
	if err := outsider.Check(a.group.Members[1], good); err == nil {
		t.Error("checked without a seed")
	}
}

func TestFaultText(t *testing.T) {
	err := error(&Fault{Member: 3, Err: ErrCommitment})
	if err.Error() != "member 3: share does not match its commitment" || !errors.Is(err, ErrCommitment) {
		t.Error(err)
	}
}
