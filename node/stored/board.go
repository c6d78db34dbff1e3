package stored

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Uploaded is the index under which an aggregator keeps the chunks of a sketch. Masked ones have an
// index for each attempt, since those of void attempts may still be stored.
func Uploaded(h session.Header, sketch int) int {
	if h.Release.Sketches[sketch].Masked == 0 {
		return sketch
	}
	return int(h.Attempt-1)*study.MaxSketches + sketch
}

// Verify is protocol.Verify, but errors about other versions use the study's names.
func Verify(s *study.Study, e protocol.Envelope, self protocol.PeerID) (protocol.Verified, error) {
	v, err := protocol.Verify(e)
	var d *protocol.Disagreement
	if errors.As(err, &d) {
		who := Names(s, []protocol.PeerID{e.Sender, self})
		d.Who, d.From = who[0], who[1]
	}
	return v, err
}

// DecodeVerified decodes an envelope and verifies its signature.
func DecodeVerified(raw []byte) (protocol.Verified, error) {
	e, err := wire.DecodeEnvelope(raw)
	if err != nil {
		return protocol.Verified{}, err
	}
	return protocol.Verify(e)
}

// OwnKind is the name under which an own envelope is kept. There is one for each kind and attempt,
// but a party may welcome several newcomers.
func OwnKind(e protocol.Verified) protocol.Kind {
	if w, err := wire.DecodeWelcome(e.Payload()); e.Kind() == protocol.KindWelcome && err == nil {
		return protocol.Kind(fmt.Sprintf("%s %x", e.Kind(), w.Join[:8]))
	}
	return e.Kind()
}

// Board reads a study's whole stored board and verifies every signature. An unreadable board is a
// *DamagedError.
func Board(st node.State, id protocol.StudyID) ([]protocol.Verified, error) {
	raws, err := st.Board(id, 0, 1<<20)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	var board []protocol.Verified
	for i, raw := range raws {
		e, err := DecodeVerified(raw)
		if err != nil {
			return nil, DamagedBoard(id, fmt.Errorf("envelope %d: %w", i, err))
		}
		board = append(board, e)
	}
	return board, nil
}
