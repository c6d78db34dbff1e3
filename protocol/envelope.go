package protocol

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cosketch/cosketch/seed/transcript"
)

// Kind names what an envelope carries.
type Kind string

// The kinds of study/2: first those of a study without failures, in the order in which they are
// posted, then those of faults and of late parties.
const (
	KindApprove  Kind = "approve"  // a party signs the study's id and meaning
	KindWithdraw Kind = "withdraw" // a party takes its approval back, until it commits
	KindRoster   Kind = "roster"   // the aggregator fixes the members of an attempt
	KindCommit   Kind = "commit"   // seed agreement, first message
	KindShare    Kind = "share"    // seed agreement, second message
	KindConfirm  Kind = "confirm"  // seed agreement, third message
	KindFirst    Kind = "first"    // a party's first round, whole
	KindInterim  Kind = "interim"  // the aggregator's input to the second round
	KindRelease  Kind = "release"  // the header of a party's noised sketches
	KindResult   Kind = "result"   // the aggregator's signed result

	KindComplaint   Kind = "complaint"   // a member opens a failed attempt, to show whose message was wrong
	KindFault       Kind = "fault"       // the aggregator ends an attempt, and names the member at fault
	KindAbandon     Kind = "abandon"     // a member will never use an attempt that it may have confirmed
	KindCertificate Kind = "certificate" // a seeded member answers a later attempt with all confirmations of its own attempt

	KindJoin    Kind = "join"    // a late party asks for the seed
	KindWelcome Kind = "welcome" // a seeded member sends the seed, sealed to the late party
	KindJoined  Kind = "joined"  // the late party proves that it holds the seed

	KindStop  Kind = "stop"  // the aggregator's dated statement that the study cannot go on
	KindClose Kind = "close" // the aggregator's dated statement that no further result will come
)

// String returns the kind. An unknown kind was chosen by a peer, so it is quoted and cut.
func (k Kind) String() string {
	if k.Known() {
		return string(k)
	}
	return fmt.Sprintf("%.40q", string(k))
}

// Known reports whether the kind is one of study/2.
func (k Kind) Known() bool { return k.FromAggregator() || k.FromParty() }

// FromAggregator reports whether only the aggregator may send this kind.
func (k Kind) FromAggregator() bool {
	switch k {
	case KindRoster, KindFault, KindInterim, KindResult, KindStop, KindClose:
		return true
	}
	return false
}

// FromParty reports whether only a party may send this kind.
func (k Kind) FromParty() bool {
	switch k {
	case KindApprove, KindWithdraw, KindCommit, KindShare, KindConfirm, KindFirst, KindRelease,
		KindComplaint, KindAbandon, KindCertificate, KindJoin, KindWelcome, KindJoined:
		return true
	}
	return false
}

// Agreement reports whether the kind is one of the three seed agreement messages that every member
// owes in an attempt.
func (k Kind) Agreement() bool { return k == KindCommit || k == KindShare || k == KindConfirm }

// PreAttempt reports whether the kind precedes every attempt; its attempt is then 0.
func (k Kind) PreAttempt() bool { return k == KindApprove || k == KindWithdraw }

// envelopePrefix begins every signed preimage. libp2p's own signatures begin with
// "libp2p-tls-handshake:" or a length-prefixed domain, never with these bytes.
const envelopePrefix = "cosketch/1/envelope\x00"

// Limits on what is accepted from a peer, in bytes.
const (
	MaxKind    = 32
	MaxPayload = 1 << 20 // of any kind; see Kind.MaxPayload
)

// MaxPayload returns the largest payload of a kind, in bytes. Each limit exceeds what the largest
// study needs. Two messages of the agreement fit into a fault, which needs them to show a conflict.
// A confirmation of every member fits into a certificate. So others cannot make a node sign a
// message too large to be read.
func (k Kind) MaxPayload() int {
	switch k {
	case KindConfirm:
		return 768
	case KindApprove, KindWithdraw, KindCommit, KindAbandon,
		KindJoin, KindWelcome, KindJoined, KindClose:
		return 4 << 10
	case KindStop:
		return 64 << 10
	case KindRoster:
		return 96 << 10
	case KindShare:
		return 128 << 10
	case KindResult:
		return 256 << 10
	case KindInterim:
		return 640 << 10
	}
	return MaxPayload // certificates, first rounds, releases, complaints and faults; unknown kinds are refused at any size
}

// Envelope is one signed message of one study. The payload bytes are those that were signed; they
// are parsed only after Verify has accepted them.
type Envelope struct {
	Study     StudyID
	Sender    PeerID
	Kind      Kind
	Attempt   uint32
	Payload   []byte
	Signature []byte

	// Texts travel beside a share. Their root in the share's payload binds them to the signature.
	// The aggregator gets all of them; a member gets the one sealed to it, with its Path.
	Texts [][]byte
	Path  [][32]byte
}

// Preimage returns the bytes that the signature covers: prefix ‖ len‖study ‖ len‖sender ‖ len‖kind
// ‖ u32 attempt ‖ len‖payload.
func (e *Envelope) Preimage() []byte {
	b := make([]byte, 0, len(envelopePrefix)+5*4+len(e.Study)+len(e.Sender)+len(e.Kind)+len(e.Payload))
	b = append(b, envelopePrefix...)
	b = transcript.AppendField(b, e.Study[:])
	b = transcript.AppendField(b, e.Sender[:])
	b = transcript.AppendField(b, []byte(e.Kind))
	b = binary.BigEndian.AppendUint32(b, e.Attempt)
	return transcript.AppendField(b, e.Payload)
}

// CheckSize refuses a kind or a payload that is too large for an envelope. Decoding, Verify and
// Seal all call it, so that other nodes can read whatever one node signs and stores.
func (e *Envelope) CheckSize() error {
	if len(e.Kind) > MaxKind {
		return fmt.Errorf("kind of %d bytes, at most %d", len(e.Kind), MaxKind)
	}
	if most := e.Kind.MaxPayload(); len(e.Payload) > most {
		return fmt.Errorf("%s with a payload of %d bytes, at most %d", e.Kind, len(e.Payload), most)
	}
	if e.Kind != KindShare && len(e.Texts)+len(e.Path) > 0 {
		return fmt.Errorf("%s with %d sealed texts, which belong to a share", e.Kind, len(e.Texts))
	}
	return nil
}

// checkForm refuses envelopes that are malformed whatever their signature.
func (e *Envelope) checkForm() error {
	if !e.Kind.Known() {
		return fmt.Errorf("unknown kind %s", e.Kind)
	}
	if err := e.CheckSize(); err != nil {
		return err
	}
	if e.Kind.PreAttempt() != (e.Attempt == 0) {
		return fmt.Errorf("attempt %d does not fit the kind", e.Attempt)
	}
	return nil
}

// String names the envelope in logs and errors, without its payload.
func (e *Envelope) String() string {
	return fmt.Sprintf("%s/%d of %s in study %s", e.Kind, e.Attempt, e.Sender, e.Study.Short())
}

// Signer signs with a node's identity. Ed25519 signing is deterministic, so a
// Signer is no source of randomness.
type Signer struct {
	id PeerID
	// sign is a closure over the private key: fmt never prints what a function holds, whatever the
	// verb and wherever the Signer is.
	sign func(message []byte) []byte
}

// NewSigner returns a signer with a node's private key. It refuses a key whose public half does not
// match its seed: signatures under two public halves reveal the seed.
func NewSigner(key ed25519.PrivateKey) (Signer, error) {
	if len(key) != ed25519.PrivateKeySize {
		return Signer{}, fmt.Errorf("ed25519 private key of %d bytes, want %d", len(key), ed25519.PrivateKeySize)
	}
	own := ed25519.NewKeyFromSeed(key.Seed())
	if !own.Equal(key) {
		return Signer{}, errors.New("ed25519 private key with the public half of another")
	}
	id, err := PeerIDFromKey(own.Public().(ed25519.PublicKey))
	if err != nil {
		return Signer{}, fmt.Errorf("identity key: %w", err)
	}
	return Signer{id: id, sign: func(message []byte) []byte { return ed25519.Sign(own, message) }}, nil
}

// ID returns the signer's identity.
func (s Signer) ID() PeerID { return s.id }

// String returns "signer" and the identity.
func (s Signer) String() string { return "signer " + s.id.String() }

// Seal signs a payload into a verified envelope of this signer. It refuses any envelope that Verify
// would refuse.
func (s Signer) Seal(study StudyID, kind Kind, attempt uint32, payload []byte) (Verified, error) {
	e := Envelope{Study: study, Sender: s.id, Kind: kind, Attempt: attempt, Payload: payload}
	if err := e.checkForm(); err != nil {
		return Verified{}, fmt.Errorf("signing a message of study %s: %w", study.Short(), err)
	}
	pre := e.Preimage()
	e.Signature = s.sign(pre)
	return verified(e, pre), nil
}

// Verified is an envelope whose signature was checked. State machines take nothing else, and only
// Verify and Seal make one. Copies, as on many boards, share one message.
type Verified struct {
	message *message // nil in the zero Verified
	beside  *beside  // nil if empty
}

// message is what was signed.
type message struct {
	envelope Envelope // without Texts and Path
	id       Digest
	read     atomic.Pointer[any] // the result of Read
}

// beside holds the Texts and the Path of an envelope.
type beside struct {
	texts [][]byte
	path  [][32]byte
}

func verified(e Envelope, preimage []byte) Verified {
	texts, path := e.Texts, e.Path
	e.Texts, e.Path = nil, nil
	return Verified{message: &message{envelope: e, id: Hash("envelope id", preimage)}}.With(texts, path)
}

// signed returns the message, an empty one for the zero Verified.
func (v Verified) signed() *message {
	if v.message == nil {
		return &message{}
	}
	return v.message
}

// reading is the result of decoding a payload.
type reading[M any] struct {
	says M
	err  error
}

// Read returns the payload as decoded by decode. Each message is decoded once, however many boards
// hold it, and the result is shared: do not write to it. So decode must depend on nothing but the
// bytes, and each type must have only one decode.
func Read[M any](v Verified, decode func(payload []byte) (M, error)) (M, error) {
	m := v.signed()
	if before := m.read.Load(); before != nil {
		if r, ok := (*before).(*reading[M]); ok {
			return r.says, r.err
		}
	}
	var r reading[M]
	r.says, r.err = decode(m.envelope.Payload)
	var keep any = &r
	m.read.Store(&keep)
	return r.says, r.err
}

// ErrSignature is returned for an envelope whose signature does not verify.
var ErrSignature = errors.New("signature does not verify")

// Verify checks form and signature. The caller need not have checked anything; the state machines
// check roster membership and order. A refusal is a *Fault whose culprit is the sender that the
// envelope claims: without a valid signature, the culprit may as well be the carrier.
func Verify(e Envelope) (Verified, error) {
	pre, err := e.verify()
	if err != nil {
		return Verified{}, &Fault{Culprit: e.Sender, Kind: e.Kind, Attempt: e.Attempt, Err: err}
	}
	return verified(e, pre), nil
}

// verify returns the preimage if the signature is valid.
func (e *Envelope) verify() ([]byte, error) {
	if err := e.checkForm(); err != nil {
		return nil, err
	}
	// Anybody can sign under a small-order key.
	if _, err := PeerIDFromKey(e.Sender[:]); err != nil {
		return nil, fmt.Errorf("sender: %w", err)
	}
	pre := e.Preimage()
	if !ed25519.Verify(e.Sender[:], pre, e.Signature) {
		return nil, e.unsigned(pre)
	}
	return pre, nil
}

// latestVersion is the highest protocol version under which unsigned tries a signature.
const latestVersion = 9

// unsigned returns the error for an invalid signature: a Disagreement if it is valid under another
// version of the protocol (only the number in the labels differs), else ErrSignature.
func (e *Envelope) unsigned(pre []byte) error {
	for version := '0'; version <= '0'+latestVersion; version++ {
		other := bytes.Clone(pre)
		other[len("cosketch/")] = byte(version)
		if !bytes.Equal(other, pre) && ed25519.Verify(e.Sender[:], other, e.Signature) {
			return &Disagreement{
				On: OnVersion, Who: e.Sender.String(), From: "this node", What: "signatures of",
				Theirs: string(other[:len(Version)]), Ours: Version, Do: "run the same version of the software at both", Err: ErrSignature,
			}
		}
	}
	return ErrSignature
}

// Envelope returns the envelope. Its slices are shared: do not write to them.
func (v Verified) Envelope() Envelope {
	e := v.signed().envelope
	e.Texts, e.Path = v.Beside()
	return e
}

// ID identifies the message: a hash of the preimage, signature excluded, so that
// re-encoding by a carrier changes nothing.
func (v Verified) ID() Digest { return v.signed().id }

// Sender, Kind, Attempt and Study return the envelope's fields.
func (v Verified) Sender() PeerID  { return v.signed().envelope.Sender }
func (v Verified) Kind() Kind      { return v.signed().envelope.Kind }
func (v Verified) Attempt() uint32 { return v.signed().envelope.Attempt }
func (v Verified) Study() StudyID  { return v.signed().envelope.Study }

// Payload returns the signed payload bytes, shared.
func (v Verified) Payload() []byte { return v.signed().envelope.Payload }

// With returns the message with other texts beside it, or with none. Neither id nor signature
// covers them. The sender posts all texts; a member reads one.
func (v Verified) With(texts [][]byte, path [][32]byte) Verified {
	v.beside = nil
	if len(texts)+len(path) > 0 {
		v.beside = &beside{texts, path}
	}
	return v
}

// Beside returns the texts beside a share, and the path of a single one. Both are shared: do not
// write to them.
func (v Verified) Beside() (texts [][]byte, path [][32]byte) {
	if v.beside == nil {
		return nil, nil
	}
	return v.beside.texts, v.beside.path
}

// String names the envelope without its payload.
func (v Verified) String() string {
	m := v.signed()
	return m.envelope.String()
}
