package carry

import (
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
)

// A study can run without a network between the nodes: bundles, carried by hand, replace the calls.
// A party's bundle to the aggregator has what it would post and the chunks of its release. The one
// back has the board and the documents that this party may see. Both sides run the code that
// answers calls, so a study may mix parties of either kind.

// The parts of bundles besides requests, which are named like their calls.
const (
	PartMailbox  = "mailbox"  // to the aggregator: the key to which its answer is sealed
	PartBoard    = "board"    // from it: a stretch of the board, starting at its beginning
	PartDocument = "document" // from it: hash ‖ a piece of a result document
)

// ErrNoNews ends a party's work when the bundle has nothing more for it.
var ErrNoNews = errors.New("nothing more in the bundle")

// Carried is the outcome of handling a study by hand.
type Carried struct {
	Status session.Status
	Bundle bundle.Label // of the bundle that was written or read
}

// Counted counts the bytes written.
type Counted struct {
	io.Writer
	N int64
}

func (c *Counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.N += int64(n)
	return n, err
}

// MailboxKey is the key of a party's mailbox in a study. It is derived from the identity key, so
// nothing more is stored: whoever has the state directory has both.
func MailboxKey(identity ed25519.PrivateKey, id protocol.StudyID) (hpke.PrivateKey, error) {
	material, err := hkdf.Key(sha256.New, identity.Seed(), id[:], "cosketch/1/mailbox", 32)
	if err != nil {
		return nil, fmt.Errorf("deriving the mailbox key: %w", err)
	}
	return hpke.MLKEM768X25519().DeriveKeyPair(material)
}

// Mail answers a party's calls from a bundle.
type Mail struct {
	board     []wire.BoardReply
	further   []byte               // the list of further results
	Head      *protocol.LedgerHead // this party's highest head that the aggregator keeps
	boards    int64                // bytes of board
	documents map[protocol.Digest][]span
	pieces    int      // of documents
	file      *os.File // the file that holds the documents' spans; nil: no documents
	size      int64    // of file
	seen      bool     // the party was told that the board ends here
}

// Limits of a bundle from the aggregator. Boards are kept in memory, and documents on disk.
const (
	mostBoards   = 1 << 28 // bytes of all stretches: more than 256 parties with small headers need to release and agree
	mostPieces   = 1 << 18 // pieces of all documents, which also bounds the documents
	mostUnpacked = 1 << 36 // bytes of all documents
)

// bounded refuses a part that would exceed the bundle's limits.
func (m *Mail) bounded() error {
	switch {
	case m.boards > mostBoards:
		return fmt.Errorf("%w: more than %s of messages", bundle.ErrTooMuch, block.Bytes(mostBoards))
	case m.pieces > mostPieces:
		return fmt.Errorf("%w: more than %d pieces of documents", bundle.ErrTooMuch, mostPieces)
	case m.size > mostUnpacked:
		return fmt.Errorf("%w: more than %s of documents", bundle.ErrTooMuch, block.Bytes(mostUnpacked))
	}
	return nil
}

// span is a piece of a document.
type span struct{ at, size int64 }

// Close frees the disk space of the documents.
func (m *Mail) Close() {
	if m.file != nil {
		m.file.Close()
		os.Remove(m.file.Name())
	}
}

// put appends a piece to a document on disk: all documents together may be larger than memory.
func (m *Mail) put(dir string, hash protocol.Digest, piece []byte) (err error) {
	if m.file == nil {
		if m.file, err = os.CreateTemp(dir, "bundle.*.tmp"); err != nil {
			return fmt.Errorf("unpacking the bundle: %w", err)
		}
	}
	if _, err := m.file.Write(piece); err != nil {
		return fmt.Errorf("unpacking the bundle: %w", err)
	}
	m.documents[hash] = append(m.documents[hash], span{m.size, int64(len(piece))})
	m.size, m.pieces = m.size+int64(len(piece)), m.pieces+1
	return nil
}

// piece returns a document's bytes from an offset, up to the end of a span.
func (m *Mail) piece(hash protocol.Digest, offset int64) ([]byte, bool, error) {
	spans, there := m.documents[hash]
	for _, s := range spans {
		if offset < s.size {
			out := make([]byte, s.size-offset)
			_, err := m.file.ReadAt(out, s.at+offset)
			return out, true, err
		}
		offset -= s.size
	}
	return nil, there && offset == 0, nil
}

// ReadMail reads a whole bundle of the aggregator. Its documents are unpacked into dir.
func ReadMail(in *bundle.Reader, label bundle.Label, dir string) (_ *Mail, err error) {
	m := &Mail{documents: map[protocol.Digest][]span{}}
	defer func() {
		if err != nil {
			m.Close()
		}
	}()
	for {
		name, body, err := in.Next()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return nil, err
		}
		switch name {
		case PartBoard:
			reply, err := wire.DecodeBoardReply(body, label.Study)
			if err != nil {
				return nil, err
			}
			m.board, m.boards = append(m.board, reply), m.boards+int64(len(body))
		case calls.Ledger:
			head, err := wire.DecodeLedgerHead(body)
			if err == nil {
				err = protocol.VerifyCountersigned(head)
			}
			if err == nil && (head.Party != label.To || head.Aggregator != label.From) {
				err = fmt.Errorf("%v is not this party's", &head)
			}
			if err != nil {
				return nil, &node.FailedError{Err: &protocol.Fault{Culprit: label.From, Kind: "ledger head", Err: err}}
			}
			m.Head = &head
		case calls.Further:
			m.further = append([]byte(nil), body...)
		case PartDocument:
			var hash protocol.Digest
			if copy(hash[:], body) < len(hash) {
				return nil, bundle.ErrDamaged
			}
			if err := m.put(dir, hash, body[len(hash):]); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%w: unknown part %q", bundle.ErrDamaged, name)
		}
		if err := m.bounded(); err != nil {
			return nil, err
		}
	}
}

// Call answers as the aggregator would, as far as the bundle reaches.
func (m *Mail) Call(_ context.Context, name string, request []byte) ([]byte, error) {
	switch name {
	case calls.Read:
		q, err := wire.DecodeRead(request)
		if err != nil {
			return nil, err
		}
		return m.read(q.From)
	case calls.Further:
		return m.further, nil
	case calls.Progress: // the whole release goes into the next bundle, whatever has arrived
		return wire.EncodeProgress(wire.Progress{Complete: true}), nil
	case calls.Document:
		q, err := wire.DecodeDocumentRequest(request)
		if err != nil {
			return nil, err
		}
		data, there, err := m.piece(q.Hash, q.Offset)
		if err != nil {
			return nil, fmt.Errorf("reading the unpacked bundle: %w", err)
		}
		if !there {
			return nil, fmt.Errorf("the bundle lacks document %s: ask the operator for a new one", q.Hash)
		}
		return wire.EncodeDocumentReply(data), nil
	}
	return nil, fmt.Errorf("call %s is not answered by bundles", name)
}

// read answers with the bundle's board from an index on.
func (m *Mail) read(from uint64) ([]byte, error) {
	for _, reply := range m.board {
		if end := reply.From + uint64(len(reply.Envelopes)); reply.From <= from && from < end {
			reply.Envelopes = reply.Envelopes[from-reply.From:]
			reply.From = from
			return wire.EncodeBoardReply(reply), nil
		}
	}
	if n := len(m.board); n > 0 && !m.seen {
		// A party that imported the board before and then failed is told that this is the newest.
		last := m.board[n-1]
		if m.seen = last.From+uint64(len(last.Envelopes)) == from; m.seen {
			return wire.EncodeBoardReply(wire.BoardReply{From: from, Head: last.Head}), nil
		}
	}
	return nil, ErrNoNews
}
