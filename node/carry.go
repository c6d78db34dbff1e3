package node

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

	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// A study can run without a network between the nodes: bundles carry by hand what
// calls would. To the aggregator goes what a party would post, and the chunks of its
// release; back come the board, and the documents that this party may see. Both sides
// run the code that answers calls, so a study may mix parties of either kind.

// The parts of bundles beside requests, which have their calls' names.
const (
	partMailbox  = "mailbox"  // to the aggregator: where to seal the answer to
	partBoard    = "board"    // from it: a stretch of the board, from its beginning on
	partDocument = "document" // from it: hash ‖ a piece of a result document
)

// errNoNews ends what a party does when the bundle has nothing more for it.
var errNoNews = errors.New("nothing more in the bundle")

// Carried is what came of handling a study by hand.
type Carried struct {
	Status session.Status
	Bundle bundle.Label // of the bundle that was written or read
}

// Export does all that the party can do by itself for an approved study, as Run would,
// and writes a bundle for the aggregator with everything that this party has to say. It
// may be written again at any time: nothing is drawn or signed twice.
func (p *Party) Export(ctx context.Context, id protocol.StudyID, w io.Writer) (Carried, error) {
	c, err := p.byHand(ctx, id, nil, func(r *service) (bundle.Label, error) { return r.export(w) })
	if err != nil {
		return c, fmt.Errorf("exporting study %s: %w", id.Short(), err)
	}
	return c, nil
}

// Import reads a bundle of the aggregator and goes on with the study from there.
func (p *Party) Import(ctx context.Context, in io.Reader) (Carried, error) {
	label, err := bundle.ReadLabel(in)
	if err != nil {
		return Carried{}, fmt.Errorf("importing: %w", err)
	}
	if label.To != p.ID() {
		return Carried{}, fmt.Errorf("importing: %w: it is for %s, this is %s (were two nodes' bundles swapped?)", bundle.ErrElsewhere, label.To, p.ID())
	}
	news := func(s *study.Study) (*mail, error) {
		if label.From != s.Aggregator.ID {
			return nil, fmt.Errorf("%w: it is from %s, the study's aggregator is %s", bundle.ErrElsewhere, label.From, s.Aggregator.ID)
		}
		key, err := mailboxKey(p.Store.Identity(), s.ID)
		if err != nil {
			return nil, err
		}
		reader, err := bundle.Open(in, label, key)
		if err != nil {
			return nil, err
		}
		return readMail(reader, label, p.Store.Dir())
	}
	c, err := p.byHand(ctx, label.Study, news, func(*service) (bundle.Label, error) { return label, nil })
	if err != nil {
		return c, fmt.Errorf("importing study %s: %w", label.Study.Short(), err)
	}
	return c, nil
}

// byHand serves a study as far as the news reach, and then calls last.
func (p *Party) byHand(ctx context.Context, id protocol.StudyID, news func(*study.Study) (*mail, error), last func(*service) (bundle.Label, error)) (c Carried, err error) {
	unlock, err := p.Store.LockStudy(id)
	if err != nil {
		return c, err
	}
	defer unlock()
	r, err := p.open(id)
	if err != nil {
		return c, err
	}
	r.sure = r.Now() // there is nobody to ask
	from := &mail{}
	if news != nil {
		if from, err = news(r.study); err != nil {
			return c, err
		}
	}
	defer from.close()
	r.client = client{carrier: from, study: r.study}
	if err := r.handle(ctx); err != nil {
		return c, err
	}
	if _, err := r.fetchFurther(ctx); err != nil {
		return c, err
	}
	c.Status = r.status()
	c.Bundle, err = last(r)
	return c, err
}

// handle does what the news allow: reads the board and runs jobs, in turn. What is to
// be sent waits for the next bundle.
func (r *service) handle(ctx context.Context) error {
	if err := r.decide(ctx); err != nil {
		return err
	}
	if err := r.vouch(ctx); err != nil {
		return err
	}
	for {
		for len(r.pending.Run) > 0 && !r.machine.Status().Terminal() {
			event, err := r.run(ctx, r.pending.Run[0])
			if errors.Is(err, errUndecided) { // the steward is asked; the rest goes on at the next command
				r.asking = true
				return r.show()
			}
			if err != nil {
				return err
			}
			r.pending.Run = r.pending.Run[1:]
			if err := r.step(event); err != nil {
				return err
			}
		}
		err := r.read(ctx, 0)
		if errors.Is(err, errNoNews) {
			break
		}
		if err != nil {
			return err
		}
	}
	if status := r.machine.Status(); status.State == session.Failed {
		return &FailedError{status.Failure}
	}
	return nil
}

// export writes the own envelopes whose turn it is and, until a result has it, the whole release.
func (r *service) export(w io.Writer) (bundle.Label, error) {
	sealed := &counted{Writer: w}
	label, err := r.seal(sealed)
	if err != nil {
		return label, err
	}
	return label, r.out.note(journal.Entry{Event: journal.Exported, Bytes: sealed.n})
}

// counted counts the bytes that are written.
type counted struct {
	io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}

func (r *service) seal(w io.Writer) (bundle.Label, error) {
	label := bundle.Label{Study: r.study.ID, From: r.signer.ID(), To: r.study.Aggregator.ID}
	out, err := bundle.Create(w, label, r.study.Aggregator.HPKE)
	if err != nil {
		return label, err
	}
	key, err := mailboxKey(r.Store.Identity(), r.study.ID)
	if err != nil {
		return label, err
	}
	mailbox := r.signer.SignMailbox(r.study.ID, key.PublicKey().Bytes())
	if err := out.Add(partMailbox, mailbox.Encode()); err != nil {
		return label, err
	}
	entries, err := r.Store.Ledger()
	if err != nil {
		return label, err
	}
	head := ledger.HeadFor(entries, label.To)
	if err := out.Add(callLedger, wire.EncodeLedgerHead(r.signer.SignLedgerHead(label.To, head.Count, head.Hash))); err != nil {
		return label, err
	}
	for _, e := range r.pending.Send { // what is on the board of this party has arrived
		if err := out.Add(callPost, wire.EncodePost([]protocol.Envelope{e.Envelope()})); err != nil {
			return label, err
		}
	}
	if r.machine.Carries() {
		if err := r.exportRelease(out); err != nil {
			return label, err
		}
	}
	return label, out.Close()
}

// mailboxKey is the key of a party's mailbox in a study. It follows from the identity
// key, so there is nothing more to store: who has the state directory has both.
func mailboxKey(identity ed25519.PrivateKey, id protocol.StudyID) (hpke.PrivateKey, error) {
	material, err := hkdf.Key(sha256.New, identity.Seed(), id[:], "cosketch/1/mailbox", 32)
	if err != nil {
		return nil, fmt.Errorf("deriving the mailbox key: %w", err)
	}
	return hpke.MLKEM768X25519().DeriveKeyPair(material)
}

func (r *service) exportRelease(out *bundle.Writer) error {
	raw, err := r.Store.ReleaseHeader(r.study.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	e, err := decodeVerified(raw)
	if err != nil {
		return fmt.Errorf("stored release: %w", err)
	}
	header, err := wire.DecodeRelease(e.Payload())
	if err != nil {
		return fmt.Errorf("stored release: %w", err)
	}
	for i, s := range header.Sketches {
		send := func(index int, piece []byte) error {
			return out.Add(callChunk, wire.EncodeChunk(wire.Chunk{Study: r.study.ID, Sketch: i, Index: index, Data: piece}))
		}
		if err := r.eachChunk(i, s, 0, send); err != nil {
			return err
		}
	}
	return nil
}

// mail answers a party's calls from a bundle.
type mail struct {
	board     []wire.BoardReply
	further   []byte               // the list of further results
	head      *protocol.LedgerHead // the highest of this party's that the aggregator keeps
	boards    int64                // bytes of board
	documents map[protocol.Digest][]span
	pieces    int      // of documents
	file      *os.File // what the documents' spans are of; nil: there are none
	size      int64    // of file
	seen      bool     // that the board ends where the party stands
}

// What a bundle of the aggregator may hold. Boards are kept in memory, and documents on disk.
const (
	mostBoards   = 1 << 28 // bytes of all stretches: four times what 64 parties can release and agree
	mostPieces   = 1 << 18 // of all documents, and so documents
	mostUnpacked = 1 << 36 // bytes of all documents
)

// bounded refuses a part with which the bundle would hold too much.
func (m *mail) bounded() error {
	switch {
	case m.boards > mostBoards:
		return fmt.Errorf("%w: more than %d MiB of messages", bundle.ErrTooMuch, mostBoards>>20)
	case m.pieces > mostPieces:
		return fmt.Errorf("%w: more than %d pieces of documents", bundle.ErrTooMuch, mostPieces)
	case m.size > mostUnpacked:
		return fmt.Errorf("%w: more than %d GiB of documents", bundle.ErrTooMuch, mostUnpacked>>30)
	}
	return nil
}

// span is a piece of a document.
type span struct{ at, size int64 }

// close gives the space of the documents back.
func (m *mail) close() {
	if m.file != nil {
		m.file.Close()
		os.Remove(m.file.Name())
	}
}

// put appends a piece to a document, on disk: together they may be larger than memory.
func (m *mail) put(dir string, hash protocol.Digest, piece []byte) (err error) {
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

// piece is what a document has from an offset on, as far as one span of it reaches.
func (m *mail) piece(hash protocol.Digest, offset int64) ([]byte, bool, error) {
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

// readMail reads a whole bundle of the aggregator. Its documents are unpacked into dir.
func readMail(in *bundle.Reader, label bundle.Label, dir string) (_ *mail, err error) {
	m := &mail{documents: map[protocol.Digest][]span{}}
	defer func() {
		if err != nil {
			m.close()
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
		case partBoard:
			reply, err := wire.DecodeBoardReply(body, label.Study)
			if err != nil {
				return nil, err
			}
			m.board, m.boards = append(m.board, reply), m.boards+int64(len(body))
		case callLedger:
			head, err := wire.DecodeLedgerHead(body)
			if err == nil {
				err = protocol.VerifyCountersigned(head)
			}
			if err == nil && (head.Party != label.To || head.Aggregator != label.From) {
				err = fmt.Errorf("%v is not this party's", &head)
			}
			if err != nil {
				return nil, &FailedError{&protocol.Fault{Culprit: label.From, Kind: "ledger head", Err: err}}
			}
			m.head = &head
		case callFurther:
			m.further = append([]byte(nil), body...)
		case partDocument:
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

// call answers as the aggregator would, as far as the bundle reaches.
func (m *mail) call(_ context.Context, name string, request []byte) ([]byte, error) {
	switch name {
	case callRead:
		q, err := wire.DecodeRead(request)
		if err != nil {
			return nil, err
		}
		return m.read(q.From)
	case callFurther:
		return m.further, nil
	case callProgress: // the release goes into the next bundle, whatever has arrived
		return wire.EncodeProgress(wire.Progress{Complete: true}), nil
	case callDocument:
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

// read answers with what the bundle's board has beyond an index.
func (m *mail) read(from uint64) ([]byte, error) {
	for _, reply := range m.board {
		if end := reply.From + uint64(len(reply.Envelopes)); reply.From <= from && from < end {
			reply.Envelopes = reply.Envelopes[from-reply.From:]
			reply.From = from
			return wire.EncodeBoardReply(reply), nil
		}
	}
	if n := len(m.board); n > 0 && !m.seen {
		// A party that took the board in before, and failed after it, is told that this is
		// the newest.
		last := m.board[n-1]
		if m.seen = last.From+uint64(len(last.Envelopes)) == from; m.seen {
			return wire.EncodeBoardReply(wire.BoardReply{From: from, Head: last.Head}), nil
		}
	}
	return nil, errNoNews
}
