package agree

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/seed/secret"
	"github.com/cosketch/cosketch/seed/transcript"
)

// Share is the second message: the member's contribution, blinder and half of
// the pairwise secret, sealed to each other member in roster order. It names the
// transcript that it is bound to: under another one it would merely not open, and
// the blame would fall on a sharer who was shown another roster or other commits.
type Share struct {
	T1     [32]byte
	Sealed [][]byte // n-1 ciphertexts, the sender's own place left out

	// Where texts travel apart: the root of the tree over them, and in place of Sealed, at who
	// reads the share, the one that is sealed to it.
	Root [32]byte
	Own  Text
}

// Sizes of one share in bytes.
const (
	shareSize  = 3 * 32                     // contribution ‖ blinder ‖ pairwise half
	SealedSize = 1088 + 32 + shareSize + 16 // ML-KEM-768 and X25519 encapsulations, tag
)

// Posted is a message together with the id of the envelope that carried it.
type Posted[M any] struct {
	ID      [32]byte
	Message M
}

func ids[M any](posted []Posted[M]) [][32]byte {
	out := make([][32]byte, len(posted))
	for i := range posted {
		out[i] = posted[i].ID
	}
	return out
}

// round1 is what every later round starts from: a valid group, everybody's
// commit, and this member's place, with its own commit being the one it made.
func (s *Secrets) round1(g Group, commits []Posted[Commit]) (self int, t1 [32]byte, err error) {
	if err := g.Validate(); err != nil {
		return 0, t1, err
	}
	if g.Study != s.study || g.Attempt != s.attempt {
		return 0, t1, errors.New("secrets belong to another study or attempt")
	}
	if self = g.Index(s.self); self < 0 {
		return 0, t1, errors.New("not a member of the group")
	}
	if len(commits) != len(g.Members) {
		return 0, t1, fmt.Errorf("%d commits for %d members", len(commits), len(g.Members))
	}
	if own := s.Commit(); commits[self].Message.Commitment != own.Commitment || !bytes.Equal(commits[self].Message.EphemeralKey, own.EphemeralKey) {
		return 0, t1, errors.New("own commit on the board is not the one these secrets made")
	}
	return self, g.T1(ids(commits)), nil
}

// Share seals this member's contribution to every other member. The ciphertexts
// differ at every call (HPKE encapsulates afresh): call it once, persist the
// signed envelope, and ever re-send only that.
func (s *Secrets) Share(g Group, commits []Posted[Commit]) (Share, error) {
	self, t1, err := s.round1(g, commits)
	if err != nil {
		return Share{}, fmt.Errorf("sharing: %w", err)
	}
	out := Share{T1: t1}
	for j := range g.Members {
		if j == self {
			continue
		}
		pair, err := s.pairHalf(t1, j)
		if err != nil {
			return Share{}, fmt.Errorf("sharing: %w", err)
		}
		plain := make([]byte, 0, shareSize)
		plain = append(plain, secret.Reveal(s.hidden).contribution[:]...)
		plain = append(plain, secret.Reveal(s.hidden).blinder[:]...)
		plain = append(plain, pair...)
		key, err := kem().NewPublicKey(commits[j].Message.EphemeralKey)
		if err != nil {
			return Share{}, &Fault{Member: j, Err: fmt.Errorf("%w: %v", ErrEphemeralKey, err)}
		}
		sealed, err := hpke.Seal(key, kdf(), aead(), shareInfo(t1, self, j), plain)
		if err != nil {
			return Share{}, &Fault{Member: j, Err: fmt.Errorf("%w: %v", ErrEphemeralKey, err)}
		}
		out.Sealed = append(out.Sealed, bytes.Clone(sealed)) // without the room that sealing has left behind it
	}
	if g.Apart {
		out.Root = NewTree(self, out.Sealed).Root()
	}
	return out, nil
}

// pairHalf is this member's fresh half of the pairwise secret with member j. It
// is derived, not drawn, so that the one secrets file holds it already.
func (s *Secrets) pairHalf(t1 [32]byte, j int) ([]byte, error) {
	info := transcript.Join(labelPair, t1[:], transcript.Uint32(uint32(j)))
	return hkdf.Expand(sha256.New, secret.Reveal(s.hidden).pairKey[:], string(info), 32)
}

func shareInfo(t1 [32]byte, from, to int) []byte {
	return transcript.Join(labelShare, t1[:], transcript.Uint32(uint32(from)), transcript.Uint32(uint32(to)))
}

// Check reports whether a share has the form that a group of n members needs.
func (sh Share) Check(n int) error {
	if len(sh.Sealed) != n-1 {
		return fmt.Errorf("%w: %d for %d members", ErrShareForm, len(sh.Sealed), n)
	}
	for _, sealed := range sh.Sealed {
		if len(sealed) != SealedSize {
			return fmt.Errorf("%w: %d bytes, want %d", ErrShareForm, len(sealed), SealedSize)
		}
	}
	return nil
}
