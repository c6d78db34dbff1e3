package session

import (
	"bytes"
	"crypto/sha256"
	"errors"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/seed/agree"
)

// commit admits a Commit (agreement round 1): once the roster is fixed, each member posts its
// ephemeral key and commitment. Every receiver test-seals to the key at once.
func (v *view) commit(e protocol.Verified) error {
	a, err := v.ofMember(e)
	if err != nil {
		return err
	}
	c, err := v.readCommit(a, e)
	if err != nil {
		return err
	}
	a.commits.put(e)
	a.keys[sha256.Sum256(c.EphemeralKey)] = true
	return nil
}

// errCopied reports an ephemeral key that is already on the board. Who copied it is only the
// aggregator's word, because it orders the board.
var errCopied = errors.New("its ephemeral key is that of another member")

func (v *view) readCommit(a *attempt, e protocol.Verified) (agree.Commit, error) {
	c, err := commitOf(e)
	if err != nil {
		return c, invalid(err)
	}
	if !a.keys[sha256.Sum256(c.EphemeralKey)] {
		return c, nil
	}
	if before, ok := a.commits.of(e.Sender()); ok {
		if own, _ := commitOf(before); bytes.Equal(own.EphemeralKey, c.EphemeralKey) {
			return c, nil
		}
	}
	return c, differs(errCopied)
}
