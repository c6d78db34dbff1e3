package aggregator

import (
	"fmt"

	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// If a study's sealed texts travel apart from its shares, they are stored beside the board. For
// each share there is, for each member of the roster in order, the text sealed to that member and
// its path. So one member's text can be read without the others.

// keepSealed stores the texts beside a share, and returns the share without them.
func (h *hosted) keepSealed(e protocol.Verified) (protocol.Verified, error) {
	texts, _ := e.Beside()
	if len(texts) == 0 {
		return e, nil
	}
	sender, members := h.machine.Place(e.Attempt(), e.Sender())
	tree := agree.NewTree(sender, texts)
	all := make([]byte, 0, members*agree.TextSize(members))
	for place := range members {
		text := make([]byte, agree.SealedSize) // the sender's own place
		if place != sender {
			text = agree.TextFor(texts, sender, place)
		}
		all = append(all, text...)
		for _, hash := range tree.Path(place) {
			all = append(all, hash[:]...)
		}
	}
	return e.With(nil, nil), h.Store.PutSealed(h.study.ID, e.Sender(), e.Attempt(), all)
}

// sealedTo adds to a share on the board the text sealed to the reader.
func (h *hosted) sealedTo(e *protocol.Envelope, reader protocol.PeerID) error {
	if e.Kind != protocol.KindShare || !h.study.Apart() || e.Sender == reader {
		return nil
	}
	place, members := h.machine.Place(e.Attempt, reader)
	if place < 0 {
		return nil
	}
	size := agree.TextSize(members)
	record, err := h.Store.Sealed(h.study.ID, e.Sender, e.Attempt, int64(place)*int64(size), size)
	if err != nil {
		return err
	}
	own := agree.Text{Sealed: record[:agree.SealedSize]}
	for at := agree.SealedSize; at < size; at += 32 {
		own.Path = append(own.Path, [32]byte(record[at:]))
	}
	share, err := wire.DecodeShare(e.Payload)
	if err == nil {
		err = own.Check(share.Root, place, members)
	}
	if err != nil { // a disk can corrupt bytes: the reader would blame this node
		return stored.DamagedBoard(h.study.ID, fmt.Errorf("what %s sealed: %w", e.Sender, err))
	}
	e.Texts, e.Path = [][]byte{own.Sealed}, own.Path
	return nil
}
