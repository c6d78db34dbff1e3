package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
)

// takeResult admits the aggregator's statement of what it computed, from which board and which
// releases. A later result has more releases than the one it supersedes.
func (v *view) takeResult(e protocol.Verified) error {
	r, err := protocol.Read(e, wire.DecodeResult)
	if err != nil {
		return err
	}
	a := v.at(e.Attempt())
	if t2 := a.transcript(); r.T2 != t2 {
		return v.disagrees(e.Sender(), protocol.OnSeed, "agreement T2", r.T2, t2, otherBoard, ErrOtherSeed)
	}
	if err := v.checkPrefix(e.Sender(), r.Count, r.Chain); err != nil {
		return err
	}
	if r.FirstOnly {
		if err := v.checkFirstOnly(a, r); err != nil {
			return err
		}
		v.results = append(v.results, r)
		return nil
	}
	unused := map[protocol.Digest]bool{}
	for _, e := range a.releases {
		unused[e.ID()] = true
	}
	for _, id := range r.Releases {
		if !unused[id] {
			return errors.New("result uses a release that is not on the board, or uses one twice")
		}
		delete(unused, id)
	}
	if len(r.Releases) < v.study.Quorum {
		return fmt.Errorf("result uses %d releases, the quorum is %d", len(r.Releases), v.study.Quorum)
	}
	if n := len(v.contributors()); r.Completed != (len(r.Releases) == n) {
		return fmt.Errorf("result of %d releases by %d members says completed: %v", len(r.Releases), n, r.Completed)
	}
	if v.study.Masked() && !r.Completed {
		return fmt.Errorf("result uses %d of %d masked releases; masks cancel only in the sum of all", len(r.Releases), len(v.contributors()))
	}
	if before := v.result(); before != nil {
		for _, id := range before.Releases {
			if unused[id] {
				return errors.New("result leaves out a release that the one before it used")
			}
		}
		if len(r.Releases) == len(before.Releases) {
			return errors.New("result uses no more releases than the one before it")
		}
	}
	v.results = append(v.results, r)
	return nil
}
