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
	a, err := v.ofMember(e)
	if err != nil {
		return err
	}
	s, err := v.readShare(a, e)
	if err != nil {
		return err
	}
	a.shares[e.Sender()] = agree.Posted[agree.Share]{ID: e.ID(), Message: s}
	return nil
}

func (v *view) readShare(a *attempt, e protocol.Verified) (agree.Share, error) {
	if !a.complete(protocol.KindCommit) {
		return agree.Share{}, fmt.Errorf("%w: commits are missing", ErrPremature)
	}
	s, err := wire.DecodeShare(e.Payload())
	if err != nil {
		return s, invalid(err)
	}
	if t1 := a.t1(); s.T1 != t1 {
		return s, differs(v.otherTranscript(e.Sender(), "transcript of the commits", s.T1, t1)) // its sender may have been shown another roster, or other commits
	}
	if err := s.Check(len(a.members)); err != nil {
		return s, invalid(err)
	}
	return s, nil
}
