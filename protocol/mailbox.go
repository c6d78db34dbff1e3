package protocol

import (
	"crypto/ed25519"
	"fmt"

	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/seed/agree"
	"github.com/cosketch/cosketch/seed/transcript"
)

// Mailbox is a party's HPKE key in a study, signed by the party. Results that travel as files are
// sealed to it.
type Mailbox struct {
	Study     StudyID
	Owner     PeerID
	Key       []byte // MLKEM768-X25519 public key
	Signature []byte // Ed25519 by Owner
}

// mailboxPrefix begins the bytes that a mailbox's signature covers. No other signature of an
// identity key covers bytes with this prefix.
const mailboxPrefix = "cosketch/1/mailbox\x00"

// maxMailboxKey bounds Mailbox.Key in bytes.
const maxMailboxKey = 4096

func (m Mailbox) preimage() []byte {
	b := []byte(mailboxPrefix)
	b = transcript.AppendField(b, m.Study[:])
	b = transcript.AppendField(b, m.Owner[:])
	return transcript.AppendField(b, m.Key)
}

// SignMailbox returns this signer's mailbox in a study.
func (s Signer) SignMailbox(study StudyID, key []byte) Mailbox {
	m := Mailbox{Study: study, Owner: s.id, Key: key}
	m.Signature = s.sign(m.preimage())
	return m
}

// Encode returns the signature followed by the key.
func (m Mailbox) Encode() []byte { return append(append([]byte{}, m.Signature...), m.Key...) }

// MailboxError is the refusal of a mailbox: its owner did not sign it, or nothing can be sealed to
// it.
type MailboxError struct {
	Study StudyID
	Owner PeerID
	Err   error
}

func (e *MailboxError) Error() string { return e.Fail().Error() }

// Fail returns the catalogue entry of a bad mailbox.
func (e *MailboxError) Fail() *fail.Error { return fail.BadMailbox.Of(e.Err, e.Owner, e.Study.Short()) }

func (e *MailboxError) Unwrap() error { return e.Err }

// DecodeMailbox reads what Encode wrote, for a study and the mailbox's owner, verifies it, and
// checks the key: whoever stores a mailbox must be able to seal to it later. A refusal is a
// *MailboxError.
func DecodeMailbox(study StudyID, owner PeerID, b []byte) (Mailbox, error) {
	refused := func(err error) (Mailbox, error) { return Mailbox{}, &MailboxError{study, owner, err} }
	if len(b) < ed25519.SignatureSize || len(b) > ed25519.SignatureSize+maxMailboxKey {
		return refused(fmt.Errorf("it has %d bytes", len(b)))
	}
	m := Mailbox{Study: study, Owner: owner, Signature: b[:ed25519.SignatureSize], Key: b[ed25519.SignatureSize:]}
	if !ed25519.Verify(owner[:], m.preimage(), m.Signature) {
		return refused(ErrSignature)
	}
	if err := agree.CheckKey(m.Key); err != nil {
		return refused(fmt.Errorf("nothing can be sealed to its key: %w", err))
	}
	return m, nil
}
