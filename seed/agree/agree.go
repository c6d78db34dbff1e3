// Package agree is the group key agreement of a study: commit, share, confirm.
//
// Every member draws a contribution, commits to it, and sends it sealed to every other member. The
// seed is derived from all contributions together, and every member confirms under it. The seed is
//
//   - contributory: one honest member's randomness makes it uniform;
//   - authenticated: the envelopes that carry the messages are signed;
//   - forward secret: ephemeral keys are destroyed;
//   - confidential against a quantum adversary who records the board today (HPKE over MLKEM768-X25519);
//   - bound to the study, the attempt and the roster.
//
// There is one file per round: commit.go, share.go, confirm.go. With complaint.go a member shows
// that another's message was wrong. The package does no I/O and reads no clock. All randomness
// comes from an injected reader, with one exception: the encapsulation inside crypto/hpke draws
// from crypto/rand itself.
//
// Messages are identified by the ids of the envelopes that carried them. A member is identified by
// its raw Ed25519 public key and its index in the roster's order.
package agree

import (
	"bytes"
	"crypto/hpke"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/transcript"
)

// Group is one attempt's membership.
type Group struct {
	Study   [32]byte
	Attempt uint32
	Roster  [32]byte   // id of the roster envelope
	Members [][32]byte // raw Ed25519 public keys, strictly ascending, at least two

	Publish       []seed.Label // the row keys that the study publishes; none by default
	DetachedTexts bool         // sealed texts travel apart from their share, which has the root of a hash tree over them
}

// MaxMembers bounds a group: messages have no room for more. Studies have fewer.
const MaxMembers = 1000

// Validate returns an error if the group is malformed.
func (g Group) Validate() error {
	if len(g.Members) < 2 || len(g.Members) > MaxMembers {
		return fmt.Errorf("group of %d members: want 2 to %d", len(g.Members), MaxMembers)
	}
	if len(g.Members) > MaxWhole && !g.DetachedTexts {
		return fmt.Errorf("group of %d members: more than %d need shares whose texts travel apart", len(g.Members), MaxWhole)
	}
	for i := 1; i < len(g.Members); i++ {
		if bytes.Compare(g.Members[i-1][:], g.Members[i][:]) >= 0 {
			return fmt.Errorf("group members %d and %d are not in ascending order", i-1, i)
		}
	}
	return nil
}

// Index returns a member's place in the roster, or -1.
func (g Group) Index(member [32]byte) int {
	for i := range g.Members {
		if g.Members[i] == member {
			return i
		}
	}
	return -1
}

// Fault is an error that one member's message caused.
type Fault struct {
	Member int // index in the group
	Err    error
}

func (f *Fault) Error() string { return fmt.Sprintf("member %d: %v", f.Member, f.Err) }
func (f *Fault) Unwrap() error { return f.Err }

// Misbehaviour of a member; Fault wraps one of these.
var (
	ErrEphemeralKey             = errors.New("ephemeral key is not usable")
	ErrShareForm                = errors.New("share envelope has the wrong number or size of sealed shares")
	ErrShareSealed              = errors.New("sealed share does not open")
	ErrCommitment               = errors.New("share does not match its commitment")
	ErrTranscript         error = disagreed{"other-transcript", "message belongs to another transcript: its sender saw other messages than this node"}
	ErrConfirmTag         error = disagreed{"other-seed", "confirmation is under another seed"}
	ErrOpening                  = errors.New("complaint does not open the commit of its sender")
	ErrUnfounded                = errors.New("complaint is unfounded: every share opens and every confirmation verifies")
	ErrWrongEvidence            = errors.New("complaint shows a text or contribution that differs from what was sealed or committed to")
	ErrContradictsConfirm       = errors.New("complaint about an attempt that its sender has already confirmed")
)

// disagreed is a disagreement between two members, with an id for programs.
type disagreed struct{ id, says string }

func (d disagreed) Error() string { return d.says }

func (d disagreed) FailID() string { return d.id }

// Labels of this package's hashes and sealings; each has one use.
const (
	labelCommitment = "cosketch/1/agree/commitment"
	labelT1         = "cosketch/1/agree/T1"
	labelT2         = "cosketch/1/agree/T2"
	labelShare      = "cosketch/1/agree/share"
	labelPair       = "cosketch/1/agree/pair"
)

func kem() hpke.KEM   { return hpke.MLKEM768X25519() }
func kdf() hpke.KDF   { return hpke.HKDFSHA256() }
func aead() hpke.AEAD { return hpke.ChaCha20Poly1305() }

// T1 returns the hash that binds study, attempt, roster and all commits, by their envelope ids in
// roster order. It is the salt of the seed.
func (g Group) T1(commits [][32]byte) [32]byte {
	fields := [][]byte{g.Study[:], transcript.Uint32(g.Attempt), g.Roster[:]}
	for i := range commits {
		fields = append(fields, commits[i][:])
	}
	return transcript.Hash(labelT1, fields...)
}

// T2 returns the hash that binds T1 and all shares, by their envelope ids in roster order. Only the
// confirmation depends on it, not the seed: the last member to share knows every contribution, and
// could otherwise re-seal until it likes the seed.
func T2(t1 [32]byte, shares [][32]byte) [32]byte {
	fields := [][]byte{t1[:]}
	for i := range shares {
		fields = append(fields, shares[i][:])
	}
	return transcript.Hash(labelT2, fields...)
}
