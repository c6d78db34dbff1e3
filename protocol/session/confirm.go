package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
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
	if err := v.sawThis(e.Sender(), c.Count, c.Chain); err != nil {
		return differs(err)
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
	if err := v.sameTranscripts(a, e.Sender(), c); err != nil {
		return c, differs(err)
	}
	return c, nil
}

// sameTranscripts checks that a confirmation is of this board's commits and shares.
func (v *view) sameTranscripts(a *attempt, sender protocol.PeerID, c protocol.Confirm) error {
	switch t1, t2 := a.transcripts(); {
	case c.T1 != t1:
		return v.otherTranscript(sender, "transcript of the commits", c.T1, t1)
	case c.T2 != t2:
		return v.otherTranscript(sender, "transcript of the shares", c.T2, t2)
	}
	return nil
}
