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
	if err := v.memberTurn(e); err != nil {
		return err
	}
	if !v.complete(protocol.KindShare) {
		return fmt.Errorf("%w: shares are missing", ErrPremature)
	}
	c, err := wire.DecodeConfirm(e.Payload())
	if err != nil {
		return err
	}
	if t1, t2 := v.transcripts(); c.T1 != t1 || c.T2 != t2 {
		return agree.ErrTranscript
	}
	if c.Count > v.count() || v.chains[c.Count] != c.Chain {
		return ErrBoards
	}
	v.confirms[e.Sender()] = c
	return nil
}
