package session

import (
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// Commit (agreement round 1): once the roster is fixed, each member posts its
// ephemeral key and commitment. Every receiver test-seals to the key at once.
func (v *view) commit(e protocol.Verified) error {
	if err := v.memberTurn(e); err != nil {
		return err
	}
	c, err := wire.DecodeCommit(e.Payload())
	if err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return err
	}
	v.commits[e.Sender()] = agree.Posted[agree.Commit]{ID: e.ID(), Message: c}
	return nil
}
