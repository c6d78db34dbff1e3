package aggregator

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Every party may read a study's documents and tables, and otherwise only its own results.

func (a *server) document(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	q, err := wire.DecodeDocumentRequest(request)
	if err != nil {
		return nil, p2p.Refuse(p2p.CodeInvalid, "%v", err)
	}
	h, err := a.find(ctx, q.Study, from)
	if err != nil {
		return nil, err
	}
	var name string
	if err := h.do(ctx, func() error {
		name = h.documentName(q.Hash, from)
		return nil
	}); err != nil {
		return nil, err
	}
	if name == "" {
		if name, err = h.tableName(q.Hash); err != nil {
			return nil, err
		}
	}
	if name == "" {
		if name, err = h.furtherName(q.Hash, from); err != nil {
			return nil, err
		}
	}
	if name == "" {
		if name, err = h.answerName(q.Hash, from); err != nil {
			return nil, err
		}
	}
	if name == "" {
		return nil, p2p.Refuse(p2p.CodeRefused, "no result document of the caller has this hash")
	}
	piece, err := pieceOf(a.Store, q, name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, p2p.Refuse(p2p.CodeNotFound, "the result document is not here")
	}
	return piece, err
}

// pieceOf reads the requested piece of a stored document.
func pieceOf(st node.State, q wire.DocumentRequest, name string) ([]byte, error) {
	f, err := st.OpenResult(q.Study, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	piece := make([]byte, max(0, min(calls.PieceSize, f.Size()-q.Offset)))
	if _, err := f.ReadAt(piece, q.Offset); err != nil && len(piece) > 0 {
		return nil, fmt.Errorf("reading result %q: %w", name, err)
	}
	return wire.EncodeDocumentReply(piece), nil
}

// documentName finds the file of a document that the caller may see: the common result, and the
// caller's own labels.
func (h *hosted) documentName(hash protocol.Digest, caller protocol.PeerID) string {
	r, ok := h.machine.Result()
	if !ok {
		return ""
	}
	if r.Document.Hash == hash {
		return filename.Result
	}
	for _, p := range r.PerParty {
		if p.Party == caller && p.Hash == hash {
			return filename.PartyLabels(caller)
		}
	}
	return ""
}

// tableName finds the file of a part, which every party of the study may read.
func (h *hosted) tableName(part protocol.Digest) (string, error) {
	f, err := h.Store.OpenResult(h.study.ID, filename.Table(part))
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return filename.Table(part), f.Close()
}

func (h *hosted) listFurther() ([]byte, error) {
	all, _, err := stored.Statements(h.Store, h.study)
	if err != nil {
		return nil, err
	}
	all = all[max(0, len(all)-calls.MostFurther):]
	first, size := len(all), 0 // the newest results, as many as the answer holds: with many parties they are large
	for ; first > 0; first-- {
		if size += 4 + len(all[first-1].Encode()); size > calls.MostList {
			break
		}
	}
	var out []byte
	for _, f := range all[first:] {
		raw := f.Encode()
		out = binary.BigEndian.AppendUint32(out, uint32(len(raw)))
		out = append(out, raw...)
	}
	return out, nil
}

// furtherName finds the file of a document of a further result that the caller may see.
func (h *hosted) furtherName(hash protocol.Digest, caller protocol.PeerID) (string, error) {
	all, _, err := stored.Statements(h.Store, h.study)
	if err != nil {
		return "", err
	}
	for _, f := range all {
		if f.Document.Hash == hash {
			return filename.Further(hash) + ".json", nil
		}
		for _, p := range f.PerParty {
			if p.Party == caller && p.Hash == hash {
				return filename.FurtherLabels(f.Document.Hash, caller), nil
			}
		}
	}
	return "", nil
}

// answerName finds the document of an answer to one of the caller's queries.
func (h *hosted) answerName(hash protocol.Digest, caller protocol.PeerID) (string, error) {
	for number := range h.study.Queries.Releases {
		name := filename.Answer(caller, uint32(number)+1)
		raw, err := h.Store.Result(h.study.ID, name)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		a, err := protocol.DecodeAnswer(h.study.ID, h.ID(), raw)
		if err != nil {
			return "", err
		}
		if a.Document.Hash == hash {
			return name + ".json", nil
		}
	}
	return "", nil
}
