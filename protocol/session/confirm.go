package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// ErrBoards reports that a member was shown another board than this one: the
// aggregator showed two, or the member misstates what it saw.
var ErrBoards = errors.New("confirms another board than this one")

// Confirm (agreement round 3): with all shares in, each member proves that it
// holds the seed and says which board it saw. Anybody can check the transcripts
// and the board; only members can check the proof.
func (v *view) confirm(e protocol.Verified) error {
	a, err := v.turn(e)
	if err != nil {
		return err
	}
	c, err := v.readConfirm(a, e)
	if err != nil {
		return err
	}
	if c.Count > v.count() || v.chains[c.Count] != c.Chain {
		return differs(ErrBoards)
	}
	a.confirms[e.Sender()], a.proofs[e.Sender()] = c, e
	a.certified = a.complete(protocol.KindConfirm)
	return nil
}

// readConfirm checks all but the board, which a certificate may bring from elsewhere.
func (v *view) readConfirm(a *attempt, e protocol.Verified) (protocol.Confirm, error) {
	if !a.complete(protocol.KindShare) {
		return protocol.Confirm{}, fmt.Errorf("%w: shares are missing", ErrPremature)
	}
	c, err := wire.DecodeConfirm(e.Payload())
	if err != nil {
		return c, invalid(err)
	}
	if t1, t2 := a.transcripts(); c.T1 != t1 || c.T2 != t2 {
		return c, differs(agree.ErrTranscript)
	}
	return c, nil
}
