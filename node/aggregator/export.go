package aggregator

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/carry"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// ErrNoMailbox reports a party that has sent no bundle yet: there is no key to which an answer
// could be sealed.
var ErrNoMailbox error = fail.NoMailbox

// ExportBoard writes a bundle for a party: the board, and the results that it may see. It only
// reads the store, so an aggregator may serve at the same time.
func ExportBoard(o Options, s *study.Study, party protocol.PeerID, w io.Writer) error {
	if err := exportBoard(o, s, party, w); err != nil {
		return fmt.Errorf("exporting study %s: %w", s.ID.Short(), err)
	}
	return nil
}

func exportBoard(o Options, s *study.Study, party protocol.PeerID, w io.Writer) error {
	a, err := newShared(o)
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
	if err := h.exportHead(out, party); err != nil {
		return err
	}
	for from := uint64(0); from < h.stored; {
		reply, err := h.board(from, party)
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

// exportHead adds the highest ledger head that the party has signed, with the aggregator's
// countersignature.
func (h *hosted) exportHead(out *bundle.Writer, party protocol.PeerID) error {
	raw, err := h.Store.LedgerHead(party)
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
	return out.Add(calls.Ledger, wire.EncodeLedgerHead(h.signer.Countersign(kept)))
}

// exportDocuments adds the results that documentName and furtherName show the party.
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
