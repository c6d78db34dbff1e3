package aggregator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/carry"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/seldom"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Desk is an aggregator that hosts one study without a network, for bundles. It holds
// the study's lock, so no serving aggregator has the study meanwhile.
type Desk struct {
	aggregator *Aggregator
	hosted     *hosted
	cancel     context.CancelFunc
	done       chan struct{}
}

// OpenDesk takes a study up from the store; store.ErrLocked when it is being served.
// Options.Listen is not used. Close must follow.
func OpenDesk(ctx context.Context, o Options, id protocol.StudyID) (*Desk, error) {
	a, err := offline(o)
	if err != nil {
		return nil, err
	}
	a.Uptime = nil // a command does not outlast a grace
	h, err := a.open(id)
	if err != nil {
		return nil, fmt.Errorf("opening study %s: %w", id.Short(), err)
	}
	a.enter(h.study)
	a.admit(h)
	ctx, cancel := context.WithCancel(ctx)
	d := &Desk{aggregator: a, hosted: h, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(d.done)
		h.run(ctx)
	}()
	return d, nil
}

// Close ends the study's goroutine and gives its lock back. What was taken in is stored.
func (d *Desk) Close() {
	d.cancel()
	<-d.done
	d.aggregator.refusals.Close()
}

// offline is an aggregator without a network.
func offline(o Options) (*Aggregator, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Tick == 0 {
		o.Tick = time.Second
	}
	if o.Entropy == nil {
		o.Entropy = rand.Reader
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Observe == nil {
		o.Observe = func(event.Happening) {}
	}
	if o.Uptime == nil {
		o.Uptime = seldom.Clock(time.Now)
	}
	o.Quotas = o.Quotas.orDefaults()
	signer, err := protocol.NewSigner(o.Store.Identity())
	if err != nil {
		return nil, fmt.Errorf("starting aggregator: %w", err)
	}
	return &Aggregator{Options: o, signer: signer, listed: make(chan struct{}), refusals: seldom.New(o.Logger, o.Uptime, time.Minute, 256),
		room: &room{size: o.Quotas.Memory}, marked: map[protocol.StudyID]bool{},
		files: map[protocol.StudyID]*study.Study{}, peers: map[protocol.PeerID]bool{}, resting: map[protocol.StudyID]bool{},
		hosted: map[protocol.StudyID]*hosted{}, setbacks: map[protocol.StudyID]*setback{}}, nil
}

// Settle waits until the study has done what it can do now: dates looked at, results
// computed.
func (d *Desk) Settle(ctx context.Context) error {
	for {
		var busy bool
		if err := d.hosted.do(ctx, func() error {
			busy = !d.hosted.isSettled() || d.hosted.running || d.hosted.pending != nil
			return nil
		}); err != nil {
			return err
		}
		if !busy {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Arrived says what a bundle held.
type Arrived struct {
	Bundle   bundle.Label
	Messages int // envelopes, also those that were on the board before
	Chunks   int
	Passed   []protocol.Verified // of the messages, those whose turn had passed: nothing came of them
}

// released reports whether the bundle's release was passed over: then so are its chunks.
func (a Arrived) released() bool {
	return slices.ContainsFunc(a.Passed, func(v protocol.Verified) bool { return v.Kind() == protocol.KindRelease })
}

// Import takes the bundle of a party of the desk's study in, after ReadLabel. What
// comes before an error has been taken in; taking it in again changes nothing.
func (d *Desk) Import(ctx context.Context, label bundle.Label, in io.Reader) (Arrived, error) {
	got, err := d.aggregator.take(ctx, label, in)
	if err == nil {
		err = d.Settle(ctx)
	}
	return got, err
}

// take answers the requests in a bundle as if they had come over the network.
func (a *Aggregator) take(ctx context.Context, label bundle.Label, in io.Reader) (got Arrived, err error) {
	got.Bundle = label
	if label.To != a.ID() {
		return got, fail.BundleElsewhere.Of(fmt.Errorf("it is for %s, this is %s", label.To, a.ID()))
	}
	if _, err := a.find(ctx, label.Study, label.From); err != nil {
		return got, err
	}
	reader, err := bundle.Open(in, label, a.Store.HPKE())
	if err != nil {
		return got, err
	}
	for {
		name, body, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		switch name {
		case carry.PartMailbox:
			err = a.mailbox(label, body)
		case calls.Ledger:
			_, err = a.ledger(ctx, label.From, body)
		case calls.Post:
			var passed []protocol.Verified
			passed, err = a.postAll(ctx, label.From, body)
			got.Messages, got.Passed = got.Messages+1, append(got.Passed, passed...)
		case calls.Chunk:
			if got.released() {
				continue
			}
			_, err = a.chunk(ctx, label.From, body)
			got.Chunks++
		default:
			err = fmt.Errorf("%w: unknown part %q", bundle.ErrDamaged, name)
		}
		if err != nil {
			return got, err
		}
	}
}

// mailbox stores where a party's answers are sealed to.
func (a *Aggregator) mailbox(label bundle.Label, body []byte) error {
	m, err := protocol.DecodeMailbox(label.Study, label.From, body)
	if err != nil {
		return err
	}
	return a.Store.PutResult(label.Study, filename.Mailbox(label.From), m.Encode())
}

// ErrNoMailbox reports a party that has sent no bundle yet, so that there is no key to
// seal an answer to.
var ErrNoMailbox error = fail.NoMailbox

// ExportBoard writes a bundle for a party: the board, and the results that it may see.
// It reads the store alone, also beside a serving aggregator.
func ExportBoard(o Options, s *study.Study, party protocol.PeerID, w io.Writer) error {
	if err := exportBoard(o, s, party, w); err != nil {
		return fmt.Errorf("exporting study %s: %w", s.ID.Short(), err)
	}
	return nil
}

func exportBoard(o Options, s *study.Study, party protocol.PeerID, w io.Writer) error {
	a, err := offline(o)
	if err != nil {
		return err
	}
	raw, err := o.Store.Result(s.ID, filename.Mailbox(party))
	if errors.Is(err, store.ErrNotFound) {
		return ErrNoMailbox
	}
	if err != nil {
		return err
	}
	mailbox, err := protocol.DecodeMailbox(s.ID, party, raw)
	if err != nil {
		return err
	}
	h, err := newHosted(a, s)
	if err != nil {
		return err
	}
	out, err := bundle.Create(w, bundle.Label{Study: s.ID, From: a.ID(), To: party}, mailbox.Key)
	if err != nil {
		return err
	}
	if err := a.exportHead(out, party); err != nil {
		return err
	}
	for from := uint64(0); from < h.stored; {
		reply, err := h.board(from)
		if err != nil {
			return err
		}
		if err := out.Add(carry.PartBoard, wire.EncodeBoardReply(reply)); err != nil {
			return err
		}
		from += uint64(len(reply.Envelopes))
	}
	if err := h.exportDocuments(out, party); err != nil {
		return err
	}
	return out.Close()
}

// exportHead adds the highest ledger head that the party has signed, countersigned.
func (a *Aggregator) exportHead(out *bundle.Writer, party protocol.PeerID) error {
	raw, err := a.Store.LedgerHead(party)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	kept, err := wire.DecodeLedgerHead(raw)
	if err != nil {
		return err
	}
	return out.Add(calls.Ledger, wire.EncodeLedgerHead(a.signer.Countersign(kept)))
}

// exportDocuments adds the results that a party may see, as documentName and furtherName
// have it.
func (h *hosted) exportDocuments(out *bundle.Writer, party protocol.PeerID) error {
	result, ok := h.machine.Result()
	if !ok {
		return nil
	}
	documents := []protocol.Digest{result.Document.Hash}
	for _, own := range result.PerParty {
		if own.Party == party {
			documents = append(documents, own.Hash)
		}
	}
	further, _, err := stored.Statements(h.Store, h.study)
	if err != nil {
		return err
	}
	if list, err := h.listFurther(); err != nil {
		return err
	} else if err := out.Add(calls.Further, list); err != nil {
		return err
	}
	for _, f := range further {
		documents = append(documents, f.Document.Hash)
		for _, own := range f.PerParty {
			if own.Party == party {
				documents = append(documents, own.Hash)
			}
		}
	}
	for _, hash := range documents {
		name := h.documentName(hash, party)
		if name == "" {
			if name, err = h.furtherName(hash, party); err != nil {
				return err
			}
		}
		if err := exportDocument(out, h.Store, h.study.ID, hash, name); err != nil {
			return err
		}
	}
	names, err := h.Store.Results(h.study.ID)
	if err != nil {
		return err
	}
	for _, name := range names {
		if hash, ok := filename.TableOf(name); ok {
			if err := exportDocument(out, h.Store, h.study.ID, hash, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// exportDocument adds a stored document, piece by piece.
func exportDocument(out *bundle.Writer, st node.State, id protocol.StudyID, hash protocol.Digest, name string) error {
	f, err := st.OpenResult(id, name)
	if err != nil {
		return err
	}
	defer f.Close()
	body := make([]byte, len(hash)+calls.PieceSize)
	copy(body, hash[:])
	for at := int64(0); at == 0 || at < f.Size(); at += calls.PieceSize {
		piece := body[len(hash):][:min(calls.PieceSize, f.Size()-at)]
		if _, err := f.ReadAt(piece, at); err != nil && len(piece) > 0 {
			return fmt.Errorf("reading result %q: %w", name, err)
		}
		if err := out.Add(carry.PartDocument, body[:len(hash)+len(piece)]); err != nil {
			return err
		}
	}
	return nil
}
