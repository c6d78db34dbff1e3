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

// Share is the second message: the member's contribution, blinder and half of the pairwise secret,
// sealed to each other member in roster order. It names its transcript T1. Otherwise a share of
// another transcript would merely not open, and a sharer who was shown another roster or other
// commits would be blamed.
type Share struct {
	T1     [32]byte
	Sealed [][]byte // n-1 ciphertexts, without the sender's own place

	// If Group.DetachedTexts: Root is the root of the hash tree over the sealed texts. The reader of a
	// share gets only the text sealed to it, Own, instead of Sealed.
	Root     [32]byte
	Received Text
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

// round1 checks what every later round needs: the group is valid, there is a commit of every
// member, and this member's commit is its own. It returns this member's place and T1.
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

// Share seals this member's contribution to every other member. The ciphertexts differ at every
// call, as HPKE encapsulates afresh. So call it once, store the signed envelope, and only ever
// re-send that.
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
		out.Sealed = append(out.Sealed, bytes.Clone(sealed)) // drops the spare capacity that sealing leaves
	}
	if g.DetachedTexts {
		out.Root = NewTree(self, out.Sealed).Root()
	}
	return out, nil
}

// pairHalf returns this member's fresh half of the pairwise secret with member j. It is derived,
// not drawn, so that the secrets file already contains it.
func (s *Secrets) pairHalf(t1 [32]byte, j int) ([]byte, error) {
	info := transcript.Join(labelPair, t1[:], transcript.Uint32(uint32(j)))
	return hkdf.Expand(sha256.New, secret.Reveal(s.hidden).pairKey[:], string(info), 32)
}

func shareInfo(t1 [32]byte, from, to int) []byte {
	return transcript.Join(labelShare, t1[:], transcript.Uint32(uint32(from)), transcript.Uint32(uint32(to)))
}

// Check returns an error unless the share has the form that a group of n members needs.
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
