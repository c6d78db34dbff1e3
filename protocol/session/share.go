package session

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// Share (agreement round 2): with all commits on the board, each member posts
// its contribution sealed to every other.
func (v *view) share(e protocol.Verified) error {
	if err := v.memberTurn(e); err != nil {
		return err
	}
	if !v.complete(protocol.KindCommit) {
		return fmt.Errorf("%w: commits are missing", ErrPremature)
	}
	s, err := wire.DecodeShare(e.Payload())
	if err != nil {
		return err
	}
	if err := s.Check(len(v.members)); err != nil {
		return err
	}
	v.shares[e.Sender()] = agree.Posted[agree.Share]{ID: e.ID(), Message: s}
	return nil
}

// transcripts recomputes T1 and T2 from the board; all shares must be in.
func (v *view) transcripts() (t1, t2 protocol.Digest) {
	var commits, shares [][32]byte
	for _, m := range v.members {
		commits = append(commits, v.commits[m.ID].ID)
		shares = append(shares, v.shares[m.ID].ID)
	}
	one := v.group().T1(commits)
	return one, agree.T2(one, shares)
}
