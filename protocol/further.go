package protocol

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/seed/transcript"
)

// Further is the aggregator's signed statement of a further result: an analysis requested of a
// study's releases after its result. It is not on the board, which has ended by then, and changes
// nothing there.
type Further struct {
	Study      StudyID
	Aggregator PeerID
	T2         Digest // transcript of the agreement whose releases were used
	At         Instant
	Document   Document        // the result that every party may read
	PerParty   []PartyDocument // results for one party alone
	Signature  []byte          // Ed25519 by Aggregator
}

// furtherPrefix begins the bytes that the signature covers. No other signature of an identity key
// covers bytes with this prefix.
const furtherPrefix = "cosketch/1/further\x00"

// maxFurtherParties bounds Further.PerParty.
const maxFurtherParties = 1 << 10

// body encodes the statement without study, aggregator and signature, which the reader knows.
func (f Further) body() []byte {
	document := func(b []byte, d Document) []byte {
		return binary.BigEndian.AppendUint64(append(b, d.Hash[:]...), uint64(d.Size))
	}
	b := append([]byte(nil), f.T2[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(f.At))
	b = document(b, f.Document)
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.PerParty)))
	for _, p := range f.PerParty {
		b = document(append(b, p.Party[:]...), p.Document)
	}
	return b
}

func (f Further) preimage() []byte {
	b := []byte(furtherPrefix)
	b = transcript.AppendField(b, f.Study[:])
	b = transcript.AppendField(b, f.Aggregator[:])
	return transcript.AppendField(b, f.body())
}

// SignFurther signs a statement as this aggregator.
func (s Signer) SignFurther(f Further) Further {
	f.Aggregator = s.id
	f.Signature = s.sign(f.preimage())
	return f
}

// Encode returns the signature followed by the body.
func (f Further) Encode() []byte { return append(append([]byte{}, f.Signature...), f.body()...) }

// DecodeFurther reads what Encode wrote, for a study and its aggregator, and verifies it.
func DecodeFurther(study StudyID, aggregator PeerID, b []byte) (Further, error) {
	f := Further{Study: study, Aggregator: aggregator}
	if err := f.decode(b); err != nil {
		return Further{}, fmt.Errorf("further result of study %s: %w", study.Short(), err)
	}
	return f, nil
}

func (f *Further) decode(b []byte) error {
	const document, fixed = 32 + 8, ed25519.SignatureSize + 32 + 8 + 32 + 8 + 4
	if len(b) < fixed {
		return fmt.Errorf("%d bytes, want at least %d", len(b), fixed)
	}
	f.Signature = b[:ed25519.SignatureSize:ed25519.SignatureSize]
	rest := b[ed25519.SignatureSize:]
	take := func(n int) []byte {
		head := rest[:n]
		rest = rest[n:]
		return head
	}
	size := func(into *Document) error {
		copy(into.Hash[:], take(32))
		into.Size = int64(binary.BigEndian.Uint64(take(8)))
		if into.Size < 0 {
			return errors.New("a document of negative size")
		}
		return nil
	}
	copy(f.T2[:], take(32))
	f.At = Instant(binary.BigEndian.Uint64(take(8)))
	if err := size(&f.Document); err != nil {
		return err
	}
	count := binary.BigEndian.Uint32(take(4))
	if count > maxFurtherParties || len(rest) != int(count)*(32+document) {
		return fmt.Errorf("%d documents of parties in %d bytes", count, len(rest))
	}
	for range count {
		var p PartyDocument
		copy(p.Party[:], take(32))
		if err := size(&p.Document); err != nil {
			return err
		}
		f.PerParty = append(f.PerParty, p)
	}
	if !ed25519.Verify(f.Aggregator[:], f.preimage(), f.Signature) {
		return ErrSignature
	}
	return nil
}
