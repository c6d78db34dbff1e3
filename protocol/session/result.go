package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Result: the aggregator's statement of what it computed, from which board and
// which releases.
func (v *view) takeResult(e protocol.Verified) error {
	r, err := wire.DecodeResult(e.Payload())
	if err != nil {
		return err
	}
	if !v.complete(protocol.KindConfirm) {
		return fmt.Errorf("%w: there is no certificate", ErrPremature)
	}
	if _, t2 := v.transcripts(); r.T2 != t2 {
		return ErrOtherSeed
	}
	if r.Count > v.count() || v.chains[r.Count] != r.Chain {
		return ErrBoards
	}
	posted := map[protocol.Digest]bool{}
	for _, h := range v.releases {
		posted[h.ID] = true
	}
	for _, id := range r.Releases {
		if !posted[id] {
			return errors.New("result uses a release that is not on the board, or uses one twice")
		}
		delete(posted, id)
	}
	if len(r.Releases) < v.study.Quorum {
		return fmt.Errorf("result uses %d releases, the quorum is %d", len(r.Releases), v.study.Quorum)
	}
	if r.Completed != (len(r.Releases) == len(v.members)) {
		return fmt.Errorf("result of %d releases by %d members says completed: %v", len(r.Releases), len(v.members), r.Completed)
	}
	v.result = &r
	return nil
}
