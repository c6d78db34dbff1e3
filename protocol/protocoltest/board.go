package protocoltest

import (
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Board is a board controlled by its keeper: it takes any envelope, and the keeper's key signs
// whatever is on it.
type Board struct {
	Study     protocol.StudyID
	Keeper    protocol.Signer
	Envelopes []protocol.Verified
}

// With returns a copy of the first count envelopes followed by others.
func (b Board) With(count int, more ...protocol.Verified) Board {
	b.Envelopes = append(b.Envelopes[:count:count], more...)
	return b
}

// Head signs the first count envelopes.
func (b Board) Head(count int) protocol.Head {
	var chain protocol.Digest
	for _, e := range b.Envelopes[:count] {
		chain = protocol.ExtendChain(chain, e.ID())
	}
	return b.Keeper.SignHead(b.Study, uint64(count), chain)
}

// Stretch returns the envelopes with indices in [from, to), as a party reads them.
func (b Board) Stretch(from, to int) session.Board {
	return session.Board{From: uint64(from), Envelopes: b.Envelopes[from:to:to], Head: b.Head(to)}
}

// All returns the whole board.
func (b Board) All() session.Board { return b.Stretch(0, len(b.Envelopes)) }
