package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/seed/agree"
)

// share admits a Share (agreement round 2): with all commits on the board, each member posts its
// contribution sealed to every other.
func (v *view) share(e protocol.Verified) error {
	a, err := v.ofMember(e)
	if err != nil {
		return err
	}
	s, err := v.readShare(a, e)
	if err != nil {
		return err
	}
	if err := v.sealedTo(a, e, s); err != nil {
		return err
	}
	a.shares.put(e)
	return nil
}

// sealedTo checks the sealed texts that a reader of the board gets beside a share, if the study
// sends texts apart: exactly the one sealed to this reader. The keeper of the board leaves out all
// others.
func (v *view) sealedTo(a *attempt, e protocol.Verified, s agree.Share) error {
	texts, path := e.Beside()
	place := a.index(v.self)
	if !v.study.Apart() || place < 0 || e.Sender() == v.self {
		if len(texts)+len(path) > 0 {
			return errTexts
		}
		return nil
	}
	if len(texts) != 1 {
		return fmt.Errorf("%w: it comes with %d of them", agree.ErrText, len(texts))
	}
	return agree.Text{Sealed: texts[0], Path: path}.Check(s.Root, place, len(a.members))
}

// errTexts reports sealed texts beside a share that should not be there.
var errTexts = errors.New("a share comes with sealed texts that are not for this node")

// allSealed checks, for the keeper of the board, that a share whose turn it is comes with all its
// texts. Texts are not signed: without them the share counts as missing, and nobody is convicted.
func (v *view) allSealed(e protocol.Verified) error {
	if _, there := v.in(v.slotOf(e)); there || e.Kind() != protocol.KindShare || e.Study() != v.study.ID || v.turn(e) != nil {
		return nil
	}
	texts, path := e.Beside()
	if !v.study.Apart() {
		if len(texts)+len(path) > 0 {
			return errTexts
		}
		return nil
	}
	a, err := v.ofMember(e)
	if err != nil {
		return nil // admit reports what is wrong with the share itself
	}
	s, err := v.readShare(a, e)
	if err != nil {
		return nil
	}
	if len(path) > 0 {
		return errTexts
	}
	return agree.CheckAll(s.Root, a.index(e.Sender()), texts, len(a.members))
}

func (v *view) readShare(a *attempt, e protocol.Verified) (agree.Share, error) {
	if !a.complete(protocol.KindCommit) {
		return agree.Share{}, fmt.Errorf("%w: commits are missing", ErrPremature)
	}
	s, err := shareOf(e)
	if err != nil {
		return s, invalid(err)
	}
	if apart := s.Root != [32]byte{}; apart != v.study.Apart() {
		return s, invalid(agree.ErrShareForm)
	}
	if t1 := a.transcriptOfCommits(); s.T1 != t1 {
		return s, differs(v.otherTranscript(e.Sender(), "transcript of the commits", s.T1, t1)) // its sender may have been shown another roster, or other commits
	}
	if v.study.Apart() {
		return s, nil
	}
	if err := s.Check(len(a.members)); err != nil {
		return s, invalid(err)
	}
	return s, nil
}
