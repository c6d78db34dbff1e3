package protocol

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/seed/transcript"
)

// Query is a party's signed statement of a release outside the board: noised rows of records that
// are in no release. It asks which records of the union are nearest to them. A number is used by
// one query only, and never again.
type Query struct {
	Study     StudyID
	Party     PeerID
	T2        Digest // transcript of the agreement whose row key made the rows
	Number    uint32 // of the party's queries in the study, from 1
	Rows      int64
	Cols      uint32
	Width     uint8    // bytes per entry
	Data      Document // the encoded entries
	Signature []byte   // Ed25519 by Party
}

// Answer is the aggregator's signed statement of its answer to a query.
type Answer struct {
	Study      StudyID
	Aggregator PeerID
	Party      PeerID // the party that asked; only it may read the answer
	Query      Digest // Query.ID
	At         Instant
	Document   Document
	Signature  []byte // Ed25519 by Aggregator
}

// The prefixes of the bytes under these signatures. No other signature of an identity key covers
// bytes with one of them.
const (
	queryPrefix  = "cosketch/1/query\x00"
	answerPrefix = "cosketch/1/answer\x00"
)

// QuerySize and AnswerSize are the lengths in bytes of the statements that Encode writes.
const (
	documentSize = 32 + 8
	QuerySize    = ed25519.SignatureSize + 32 + 4 + 8 + 4 + 1 + documentSize
	AnswerSize   = ed25519.SignatureSize + 32 + 32 + 8 + documentSize
)

func appendDocument(b []byte, d Document) []byte {
	return binary.BigEndian.AppendUint64(append(b, d.Hash[:]...), uint64(d.Size))
}

func readDocument(b []byte) Document {
	return Document{Hash: Digest(b[:32]), Size: int64(binary.BigEndian.Uint64(b[32:documentSize]))}
}

// statement returns the bytes that a signature covers.
func statement(prefix string, study StudyID, signer PeerID, body []byte) []byte {
	b := transcript.AppendField([]byte(prefix), study[:])
	b = transcript.AppendField(b, signer[:])
	return transcript.AppendField(b, body)
}

func (q Query) body() []byte {
	b := append([]byte(nil), q.T2[:]...)
	b = binary.BigEndian.AppendUint32(b, q.Number)
	b = binary.BigEndian.AppendUint64(b, uint64(q.Rows))
	b = binary.BigEndian.AppendUint32(b, q.Cols)
	return appendDocument(append(b, q.Width), q.Data)
}

func (q Query) preimage() []byte { return statement(queryPrefix, q.Study, q.Party, q.body()) }

// ID identifies the query: a hash of the signed bytes.
func (q Query) ID() Digest { return Hash("query id", q.preimage()) }

// SignQuery signs a query as this party.
func (s Signer) SignQuery(q Query) Query {
	q.Party = s.id
	q.Signature = s.sign(q.preimage())
	return q
}

// Encode returns the signature followed by the body.
func (q Query) Encode() []byte { return append(append([]byte(nil), q.Signature...), q.body()...) }

// DecodeQuery reads what Encode wrote, for a study and one of its parties, and verifies it.
func DecodeQuery(study StudyID, party PeerID, b []byte) (Query, error) {
	q := Query{Study: study, Party: party}
	if err := q.decode(b); err != nil {
		return Query{}, fmt.Errorf("query of study %s: %w", study.Short(), err)
	}
	return q, nil
}

func (q *Query) decode(b []byte) error {
	if len(b) != QuerySize {
		return fmt.Errorf("%d bytes, want %d", len(b), QuerySize)
	}
	q.Signature = append([]byte(nil), b[:ed25519.SignatureSize]...)
	b = b[ed25519.SignatureSize:]
	q.T2, b = Digest(b[:32]), b[32:]
	q.Number, b = binary.BigEndian.Uint32(b), b[4:]
	q.Rows, b = int64(binary.BigEndian.Uint64(b)), b[8:]
	q.Cols, b = binary.BigEndian.Uint32(b), b[4:]
	q.Width, b = b[0], b[1:]
	q.Data = readDocument(b)
	if !ed25519.Verify(q.Party[:], q.preimage(), q.Signature) {
		return ErrSignature
	}
	if q.Number < 1 || q.Rows < 1 || q.Cols < 1 || q.Width < 1 || q.Width > 8 || q.Data.Size < 1 {
		return errors.New("a number, shape or size is out of range")
	}
	return nil
}

func (a Answer) body() []byte {
	b := append([]byte(nil), a.Party[:]...)
	b = append(b, a.Query[:]...)
	return appendDocument(binary.BigEndian.AppendUint64(b, uint64(a.At)), a.Document)
}

func (a Answer) preimage() []byte { return statement(answerPrefix, a.Study, a.Aggregator, a.body()) }

// SignAnswer signs an answer as this aggregator.
func (s Signer) SignAnswer(a Answer) Answer {
	a.Aggregator = s.id
	a.Signature = s.sign(a.preimage())
	return a
}

// Encode returns the signature followed by the body.
func (a Answer) Encode() []byte { return append(append([]byte(nil), a.Signature...), a.body()...) }

// DecodeAnswer reads what Encode wrote, for a study and its aggregator, and verifies it.
func DecodeAnswer(study StudyID, aggregator PeerID, b []byte) (Answer, error) {
	a := Answer{Study: study, Aggregator: aggregator}
	if len(b) != AnswerSize {
		return Answer{}, fmt.Errorf("answer to a query of study %s: %d bytes, want %d", study.Short(), len(b), AnswerSize)
	}
	a.Signature = append([]byte(nil), b[:ed25519.SignatureSize]...)
	b = b[ed25519.SignatureSize:]
	a.Party, a.Query, b = PeerID(b[:32]), Digest(b[32:64]), b[64:]
	a.At, b = Instant(binary.BigEndian.Uint64(b)), b[8:]
	a.Document = readDocument(b)
	if !ed25519.Verify(a.Aggregator[:], a.preimage(), a.Signature) {
		return Answer{}, fmt.Errorf("answer to a query of study %s: %w", study.Short(), ErrSignature)
	}
	if a.Document.Size < 0 {
		return Answer{}, fmt.Errorf("answer to a query of study %s: a document of negative size", study.Short())
	}
	return a, nil
}
