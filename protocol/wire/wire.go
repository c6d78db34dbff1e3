// Package wire encodes and decodes protocol messages with protobuf, and is the only package that
// imports it. Decoding is strict: unknown fields, wrong lengths and values over a limit are errors,
// because a node must not sign, store or answer what it does not understand.
//
// Signatures and ids never cover these encodings (package protocol fixes what they cover), with one
// exception: a payload is signed as the bytes that were sent.
package wire

import (
	"crypto/ed25519"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire/wirepb"
)

// MaxMessage bounds every decoded message, in bytes.
const MaxMessage = 8 << 20

// Decoding a message of n bytes allocates at most MemoryFactor·n + MemoryBase bytes, even if the
// message is refused.
const (
	MemoryFactor = 6
	MemoryBase   = 128 << 10
)

func marshal(m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		// Only invalid UTF-8 in a string field can fail. Our string fields are kinds and sides,
		// which are constants or were decoded, and reasons, which EncodeStop repairs.
		panic("wire: " + err.Error())
	}
	return b
}

// unmarshal decodes a message. Whatever the message holds, decoding takes at most MemoryFactor
// bytes of memory for each byte of it, plus MemoryBase.
func unmarshal(b []byte, m proto.Message) error {
	if len(b) > MaxMessage {
		return fmt.Errorf("%d bytes, at most %d", len(b), MaxMessage)
	}
	if err := count(b, m.ProtoReflect().Descriptor()); err != nil {
		return err
	}
	if err := proto.Unmarshal(b, m); err != nil {
		return errInvalid
	}
	return nil
}

// bytes32 reads a fixed 32-byte field.
func bytes32[T ~[32]byte](name string, b []byte) (T, error) {
	if len(b) != 32 {
		return T{}, fmt.Errorf("%s of %d bytes, want 32", name, len(b))
	}
	return T(b), nil
}

func list32[T ~[32]byte](name string, in [][]byte) ([]T, error) {
	out := make([]T, len(in))
	for i, b := range in {
		v, err := bytes32[T](name, b)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func slices32[T ~[32]byte](in []T) [][]byte {
	out := make([][]byte, len(in))
	for i := range in {
		v := [32]byte(in[i])
		out[i] = v[:]
	}
	return out
}

// EncodeEnvelope returns the encoding in which an envelope is stored and carried.
func EncodeEnvelope(e protocol.Envelope) []byte { return marshal(envelopePB(e)) }

func envelopePB(e protocol.Envelope) *wirepb.Envelope {
	return &wirepb.Envelope{
		Study: e.Study[:], Sender: e.Sender[:], Kind: string(e.Kind),
		Attempt: e.Attempt, Payload: e.Payload, Signature: e.Signature,
		Texts: e.Texts, Path: slices32(e.Path),
	}
}

// DecodeEnvelope decodes what EncodeEnvelope wrote. It does not check the signature:
// protocol.Verify does.
func DecodeEnvelope(b []byte) (protocol.Envelope, error) {
	var m wirepb.Envelope
	if err := unmarshal(b, &m); err != nil {
		return protocol.Envelope{}, fmt.Errorf("decoding envelope: %w", err)
	}
	e, err := envelopeFrom(&m)
	if err != nil {
		return protocol.Envelope{}, fmt.Errorf("decoding envelope: %w", err)
	}
	return e, nil
}

func envelopeFrom(m *wirepb.Envelope) (e protocol.Envelope, err error) {
	if e.Study, err = bytes32[protocol.StudyID]("study", m.GetStudy()); err != nil {
		return e, err
	}
	if e.Sender, err = protocol.PeerIDFromKey(m.GetSender()); err != nil {
		return e, fmt.Errorf("sender: %w", err)
	}
	e.Kind, e.Attempt, e.Payload, e.Signature = protocol.Kind(m.GetKind()), m.GetAttempt(), m.GetPayload(), m.GetSignature()
	if len(e.Signature) != ed25519.SignatureSize {
		return e, fmt.Errorf("signature of %d bytes, want %d", len(e.Signature), ed25519.SignatureSize)
	}
	e.Texts = m.GetTexts()
	if e.Path, err = paths(m.GetPath()); err != nil {
		return e, err
	}
	return e, e.CheckSize()
}
