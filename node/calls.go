package node

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// The calls of a party to its aggregator.
const (
	callPost     = "post"     // envelopes for the board
	callRead     = "read"     // the board from an index on, waiting for news if asked
	callChunk    = "chunk"    // one chunk of the caller's release
	callProgress = "progress" // which chunks of the caller's release have arrived
	callDocument = "document" // a piece of a result document
	callHello    = "hello"    // what the aggregator says of itself
	callLedger   = "ledger"   // the head of the caller's privacy ledger, to be countersigned
	callFurther  = "further"  // the statements of a study's further results
	callQuery    = "query"    // a query of the caller's, and its answer
	callStudies  = "studies"  // the study files that list the caller
)

// What one answer, or part of a bundle, carries of what may be larger, in bytes.
const (
	mostBoard = 4 << 20 // of envelopes
	pieceSize = 4 << 20 // of a document
)

// Sizes of frames, in bytes.
const (
	statement = 1 << 10 // of a few fixed fields: a digest or two, a number, a short text
	mostPost  = 4 << 20 // the release's header, a share and a certificate of the largest study, twice
	mostList  = 2 << 20 // 256 further results of 64 parties, or the ids of all queries
)

// frames are the largest frames of each call. What a call does not need it may not send: a
// node reserves memory for a frame before it comes, and decodes it.
func frames() map[string]p2p.Frames {
	return map[string]p2p.Frames{
		callPost:     {Request: mostPost, Response: wire.MaxEnvelopes * len(protocol.Digest{})},
		callRead:     {Request: statement, Response: mostBoard + 4*statement},
		callChunk:    {Request: protocol.ChunkSize + statement},
		callProgress: {Request: statement, Response: statement},
		callDocument: {Request: statement, Response: pieceSize + statement},
		callHello:    {Request: statement, Response: statement},
		callLedger:   {Request: statement, Response: statement},
		callFurther:  {Request: statement, Response: mostList},
		callQuery:    {Request: study.MaxQueryBytes + statement, Response: mostList},
		callStudies:  {Response: mostOffered},
	}
}

// withFrames are limits with those of the calls.
func withFrames(l p2p.Limits) p2p.Limits {
	l.FrameOf = frames()
	return l
}

// client is a party's way to the aggregator of one study.
type client struct {
	carrier
	study *study.Study
}

// carrier takes a request to the aggregator and brings its answer.
type carrier interface {
	call(ctx context.Context, name string, request []byte) ([]byte, error)
}

// network carries requests over connections.
type network struct {
	host  *p2p.Host
	study *study.Study
}

func (n network) call(ctx context.Context, name string, request []byte) ([]byte, error) {
	return n.host.Call(ctx, n.study.Aggregator.ID, n.study.Aggregator.Addrs, name, request)
}

// read makes a call and reads its answer.
func read[T any](ctx context.Context, c client, name string, request []byte, decode func([]byte) (T, error)) (out T, err error) {
	raw, err := c.call(ctx, name, request)
	if errors.Is(err, p2p.ErrTooLarge) {
		return out, &AnswerError{c.study.Aggregator.ID, name, err}
	}
	if err != nil {
		return out, err
	}
	if out, err = decode(raw); err != nil {
		return out, &AnswerError{c.study.Aggregator.ID, name, err}
	}
	return out, nil
}

// post sends envelopes, and returns the ids of those whose turn has passed.
func (c client) post(ctx context.Context, envelopes []protocol.Verified) (passed []protocol.Digest, err error) {
	var plain []protocol.Envelope
	for _, e := range envelopes {
		plain = append(plain, e.Envelope())
	}
	return read(ctx, c, callPost, wire.EncodePost(plain), decodePassed)
}

// encodePassed is the answer to a post: the ids of the envelopes that were passed over, as
// their turn has passed, in the order of the request. It is empty where all were taken in.
func encodePassed(passed []protocol.Verified) []byte {
	var out []byte
	for _, v := range passed {
		id := v.ID()
		out = append(out, id[:]...)
	}
	return out
}

// decodePassed reads encodePassed's form.
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

// hello asks what the aggregator says of itself, and of the study.
func (c client) hello(ctx context.Context) (wire.Hello, error) {
	return read(ctx, c, callHello, wire.EncodeHelloRequest(wire.HelloRequest{Study: c.study.ID, Name: c.study.Name}), wire.DecodeHello)
}

// read returns the board from an index on. It waits up to wait seconds for news.
func (c client) read(ctx context.Context, from uint64, wait uint32) (wire.BoardReply, error) {
	return read(ctx, c, callRead, wire.EncodeRead(wire.Read{Study: c.study.ID, From: from, Wait: wait}), func(raw []byte) (wire.BoardReply, error) {
		return wire.DecodeBoardReply(raw, c.study.ID)
	})
}

func (c client) progress(ctx context.Context) (wire.Progress, error) {
	return read(ctx, c, callProgress, wire.EncodeProgressRequest(c.study.ID), wire.DecodeProgress)
}

func (c client) chunk(ctx context.Context, sketch, index int, data []byte) error {
	nothing := func([]byte) (struct{}, error) { return struct{}{}, nil }
	_, err := read(ctx, c, callChunk, wire.EncodeChunk(wire.Chunk{Study: c.study.ID, Sketch: sketch, Index: index, Data: data}), nothing)
	return err
}

// ledger sends the head of this party's ledger and returns the highest one that the
// aggregator keeps, with both signatures verified.
func (c client) ledger(ctx context.Context, own protocol.LedgerHead) (protocol.LedgerHead, error) {
	raw, err := c.call(ctx, callLedger, wire.EncodeLedgerHead(own))
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
		return kept, &FailedError{&protocol.Fault{Culprit: own.Aggregator, Kind: "ledger head", Err: err}}
	}
	return kept, nil
}

// document fetches a whole document and checks it against its hash.
func (c client) document(ctx context.Context, d protocol.Document, most int64) ([]byte, error) {
	if d.Size > most {
		return nil, &badDocument{fmt.Errorf("a document of %d bytes: one of this study has at most %d", d.Size, most)}
	}
	var data bytes.Buffer
	err := c.pieces(ctx, d, &data)
	return data.Bytes(), err
}

// pieces fetches a document piece by piece. After an error, and not before nil is returned,
// what was written may be something else.
func (c client) pieces(ctx context.Context, d protocol.Document, to io.Writer) error {
	sum := sha256.New()
	for have := int64(0); have < d.Size; {
		piece, err := read(ctx, c, callDocument, wire.EncodeDocumentRequest(wire.DocumentRequest{Study: c.study.ID, Hash: d.Hash, Offset: have}), wire.DecodeDocumentReply)
		if err != nil {
			return err
		}
		if have += int64(len(piece)); len(piece) == 0 || have > d.Size {
			return &AnswerError{c.study.Aggregator.ID, callDocument, fmt.Errorf("result document %s does not have the size that was signed", d.Hash)}
		}
		sum.Write(piece)
		if _, err := to.Write(piece); err != nil {
			return err
		}
	}
	if [sha256.Size]byte(sum.Sum(nil)) != d.Hash {
		return &AnswerError{c.study.Aggregator.ID, callDocument, fmt.Errorf("result document %s does not have the hash that was signed", d.Hash)}
	}
	return nil
}
