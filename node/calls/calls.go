package calls

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// The calls that a party makes to its aggregator.
const (
	Post     = "post"     // envelopes for the board
	Read     = "read"     // the board from an index on, waiting for news if asked
	Chunk    = "chunk"    // one chunk of the caller's release
	Progress = "progress" // which chunks of the caller's release have arrived
	Document = "document" // a piece of a result document
	Hello    = "hello"    // the aggregator's clock and version
	Ledger   = "ledger"   // the head of the caller's privacy ledger, to be countersigned
	Further  = "further"  // the statements of a study's further results
	Query    = "query"    // a query of the caller, and its answer
	Studies  = "studies"  // the study files that list the caller

	Introduce = "introduce" // an introduction under an invitation, by a caller that no study needs to list
)

// Sizes, in bytes, of the pieces in which larger data are sent, in an answer or a part of a bundle.
const (
	MostBoard = 4 << 20 // of envelopes
	PieceSize = 4 << 20 // of a document
)

// Sizes of frames, in bytes.
const (
	statement = 1 << 10 // a few fixed fields: a digest or two, a number, a short text
	mostPost  = 4 << 20 // twice the release's header, a share and a certificate of the largest study
	MostList  = 2 << 20 // further results (256 if there are few parties), or the ids of all queries
)

// frames are the frame limits of each call. They are as small as the call allows, because a node
// reserves memory for a frame before it comes, and decodes it.
func frames() map[string]p2p.Frames {
	return map[string]p2p.Frames{
		Post:     {Request: mostPost, Response: wire.MaxEnvelopes * len(protocol.Digest{})},
		Read:     {Request: statement, Response: MostBoard + 4*statement},
		Chunk:    {Request: protocol.ChunkSize + statement},
		Progress: {Request: statement, Response: statement},
		Document: {Request: statement, Response: PieceSize + statement},
		Hello:    {Request: statement, Response: statement},
		Ledger:   {Request: statement, Response: statement},
		Further:  {Request: statement, Response: MostList},
		Query:    {Request: study.MaxQueryBytes + statement, Response: MostList},
		Studies:  {Response: MostOffered},

		Introduce: {Request: wire.MaxIntroduce},
	}
}

// WithFrames returns the limits with the frame limits of the calls.
func WithFrames(l p2p.Limits) p2p.Limits {
	l.FrameOf = frames()
	return l
}

// Client is a party's client of one study's aggregator.
type Client struct {
	Carrier
	Study *study.Study
}

// Carrier sends a request to the aggregator and returns its answer.
type Carrier interface {
	Call(ctx context.Context, name string, request []byte) ([]byte, error)
}

// Network carries requests over connections.
type Network struct {
	Host  *p2p.Host
	Study *study.Study
}

// Call asks the study's aggregator.
func (n Network) Call(ctx context.Context, name string, request []byte) ([]byte, error) {
	return n.Host.Call(ctx, n.Study.Aggregator.ID, n.Study.Aggregator.Addrs, name, request)
}

// read makes a call and decodes its answer.
func read[T any](ctx context.Context, c Client, name string, request []byte, decode func([]byte) (T, error)) (out T, err error) {
	raw, err := c.Call(ctx, name, request)
	if errors.Is(err, p2p.ErrTooLarge) {
		return out, &node.AnswerError{Aggregator: c.Study.Aggregator.ID, Call: name, Err: err}
	}
	if err != nil {
		return out, err
	}
	if out, err = decode(raw); err != nil {
		return out, &node.AnswerError{Aggregator: c.Study.Aggregator.ID, Call: name, Err: err}
	}
	return out, nil
}

// Post sends envelopes, and returns the ids of those whose turn has passed.
func (c Client) Post(ctx context.Context, envelopes []protocol.Verified) (passed []protocol.Digest, err error) {
	var plain []protocol.Envelope
	for _, e := range envelopes {
		plain = append(plain, e.Envelope())
	}
	return read(ctx, c, Post, wire.EncodePost(plain), decodePassed)
}

// EncodePassed encodes the answer to a post: the ids of the envelopes passed over because their
// turn has passed, in the order of the request. It is empty if all were accepted.
func EncodePassed(passed []protocol.Verified) []byte {
	var out []byte
	for _, v := range passed {
		id := v.ID()
		out = append(out, id[:]...)
	}
	return out
}

// decodePassed reads what EncodePassed wrote.
func decodePassed(b []byte) (ids []protocol.Digest, err error) {
	if len(b)%len(protocol.Digest{}) != 0 || len(b) > wire.MaxEnvelopes*len(protocol.Digest{}) {
		return nil, fmt.Errorf("%d bytes are no list of ids", len(b))
	}
	for len(b) > 0 {
		var id protocol.Digest
		b = b[copy(id[:], b):]
		ids = append(ids, id)
	}
	return ids, nil
}

// Hello asks for what the aggregator says of itself and of the study.
func (c Client) Hello(ctx context.Context) (wire.Hello, error) {
	return read(ctx, c, Hello, wire.EncodeHelloRequest(wire.HelloRequest{Study: c.Study.ID, Name: c.Study.Name}), wire.DecodeHello)
}

// Read returns the board from an index on. It waits up to wait seconds for news.
func (c Client) Read(ctx context.Context, from uint64, wait uint32) (wire.BoardReply, error) {
	return read(ctx, c, Read, wire.EncodeRead(wire.Read{Study: c.Study.ID, From: from, Wait: wait}), func(raw []byte) (wire.BoardReply, error) {
		return wire.DecodeBoardReply(raw, c.Study.ID)
	})
}

// Progress asks which chunks of the caller's release have arrived.
func (c Client) Progress(ctx context.Context) (wire.Progress, error) {
	return read(ctx, c, Progress, wire.EncodeProgressRequest(c.Study.ID), wire.DecodeProgress)
}

// Chunk sends one chunk of the caller's release.
func (c Client) Chunk(ctx context.Context, sketch, index int, data []byte) error {
	nothing := func([]byte) (struct{}, error) { return struct{}{}, nil }
	_, err := read(ctx, c, Chunk, wire.EncodeChunk(wire.Chunk{Study: c.Study.ID, Sketch: sketch, Index: index, Data: data}), nothing)
	return err
}

// ledger sends the head of this party's ledger. It returns the highest one that the aggregator
// keeps, with both signatures verified.
func (c Client) ledger(ctx context.Context, own protocol.LedgerHead) (protocol.LedgerHead, error) {
	raw, err := c.Call(ctx, Ledger, wire.EncodeLedgerHead(own))
	if err != nil {
		return protocol.LedgerHead{}, err
	}
	kept, err := wire.DecodeLedgerHead(raw)
	if err == nil {
		err = protocol.VerifyCountersigned(kept)
	}
	if err == nil && (kept.Party != own.Party || kept.Aggregator != own.Aggregator || kept.Count < own.Count) {
		err = fmt.Errorf("it answers %v with %v", &own, &kept)
	}
	if err != nil {
		return kept, &node.FailedError{Err: &protocol.Fault{Culprit: own.Aggregator, Kind: "ledger head", Err: err}}
	}
	return kept, nil
}

// Document fetches a whole document and checks it against its hash.
func (c Client) Document(ctx context.Context, d protocol.Document, most int64) ([]byte, error) {
	if d.Size > most {
		return nil, &BadDocument{fmt.Errorf("a document of %d bytes: one of this study has at most %d", d.Size, most)}
	}
	var data bytes.Buffer
	err := c.Pieces(ctx, d, &data)
	return data.Bytes(), err
}

// Pieces fetches a document piece by piece. Until it returns nil, what it wrote may not be the
// document.
func (c Client) Pieces(ctx context.Context, d protocol.Document, to io.Writer) error {
	sum := sha256.New()
	for have := int64(0); have < d.Size; {
		piece, err := read(ctx, c, Document, wire.EncodeDocumentRequest(wire.DocumentRequest{Study: c.Study.ID, Hash: d.Hash, Offset: have}), wire.DecodeDocumentReply)
		if err != nil {
			return err
		}
		if have += int64(len(piece)); len(piece) == 0 || have > d.Size {
			return &node.AnswerError{Aggregator: c.Study.Aggregator.ID, Call: Document, Err: fmt.Errorf("result document %s does not have the size that was signed", d.Hash)}
		}
		sum.Write(piece)
		if _, err := to.Write(piece); err != nil {
			return err
		}
	}
	if [sha256.Size]byte(sum.Sum(nil)) != d.Hash {
		return &node.AnswerError{Aggregator: c.Study.Aggregator.ID, Call: Document, Err: fmt.Errorf("result document %s does not have the hash that was signed", d.Hash)}
	}
	return nil
}

// MostFurther bounds how many further results of one study a party is sent at once, and mostKept
// how many it keeps.
const (
	MostFurther = 256
)

// MostOffered bounds an answer to the call for study files, in bytes.
const MostOffered = 7 << 20

// BadDocument is an error in what an aggregator signed; fetching it again does not help.
type BadDocument struct{ Err error }

func (b *BadDocument) Error() string { return b.Err.Error() }

func (b *BadDocument) Unwrap() error { return b.Err }
