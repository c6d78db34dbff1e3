package protocol

import (
	"crypto/ed25519"
	"fmt"

	"github.com/cosketch/cosketch/seed/transcript"
)

// Mailbox is the HPKE key to which a party of a study wants its results sealed that
// travel as files, signed by the party.
type Mailbox struct {
	Study     StudyID
	Owner     PeerID
	Key       []byte // MLKEM768-X25519 public key
	Signature []byte // Ed25519 by Owner
}

// mailboxPrefix begins what a mailbox's signature covers. No other signature of an
// identity key covers anything that begins so.
const mailboxPrefix = "cosketch/1/mailbox\x00"

// maxMailboxKey bounds Mailbox.Key in bytes.
const maxMailboxKey = 4096

func (m Mailbox) preimage() []byte {
	b := []byte(mailboxPrefix)
	b = transcript.AppendField(b, m.Study[:])
	b = transcript.AppendField(b, m.Owner[:])
	return transcript.AppendField(b, m.Key)
}

// SignMailbox makes this signer's mailbox in a study.
func (s Signer) SignMailbox(study StudyID, key []byte) Mailbox {
	m := Mailbox{Study: study, Owner: s.id, Key: key}
	m.Signature = s.sign(m.preimage())
	return m
}

// Encode writes the mailbox as its signature and its key.
func (m Mailbox) Encode() []byte { return append(append([]byte{}, m.Signature...), m.Key...) }

// DecodeMailbox reads what Encode wrote for an owner's study, and verifies it.
func DecodeMailbox(study StudyID, owner PeerID, b []byte) (Mailbox, error) {
	if len(b) < ed25519.SignatureSize || len(b) > ed25519.SignatureSize+maxMailboxKey {
		return Mailbox{}, fmt.Errorf("mailbox of %s in study %s: %d bytes", owner, study.Short(), len(b))
	}
	m := Mailbox{Study: study, Owner: owner, Signature: b[:ed25519.SignatureSize], Key: b[ed25519.SignatureSize:]}
	if !ed25519.Verify(owner[:], m.preimage(), m.Signature) {
		return Mailbox{}, fmt.Errorf("mailbox of %s in study %s: %w", owner, study.Short(), ErrSignature)
	}
	return m, nil
}
