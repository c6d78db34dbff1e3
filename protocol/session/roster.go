package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Approval and roster (round 0): parties post approve; a signed withdraw takes
// it back until the party commits; the aggregator fixes who takes part.

// ErrMeaning reports that two nodes read one study file differently: they run
// different versions of the software.
var ErrMeaning = errors.New("reads the study as another meaning (a different software version?)")

func (v *view) approve(e protocol.Verified) error {
	a, err := wire.DecodeApprove(e.Payload())
	if err != nil {
		return err
	}
	if v.members != nil {
		return fmt.Errorf("%w: the roster is fixed", ErrPremature)
	}
	if a.Meaning != v.study.Meaning {
		return ErrMeaning
	}
	return nil
}

func (v *view) withdraw(e protocol.Verified) error {
	if err := wire.DecodeWithdraw(e.Payload()); err != nil {
		return err
	}
	if _, ok := v.posted(e.Sender(), protocol.KindCommit); ok {
		return fmt.Errorf("%w: the party has committed", ErrPremature)
	}
	v.withdrawn[e.Sender()] = true
	return nil
}

// approvals lists the parties that approved and did not withdraw, by raw key.
func (v *view) approvals() (parties []study.Party, ids []protocol.Digest) {
	for _, p := range v.study.Parties {
		if e, ok := v.posted(p.ID, protocol.KindApprove); ok && !v.withdrawn[p.ID] {
			parties, ids = append(parties, p), append(ids, e.ID())
		}
	}
	return parties, ids
}

func (v *view) fixRoster(e protocol.Verified) error {
	r, err := wire.DecodeRoster(e.Payload())
	if err != nil {
		return err
	}
	if len(r.Approvals) < v.study.Quorum {
		return fmt.Errorf("roster of %d approvals, the quorum is %d", len(r.Approvals), v.study.Quorum)
	}
	var members []study.Party
	next := 0
	for _, p := range v.study.Parties {
		approval, ok := v.posted(p.ID, protocol.KindApprove)
		if ok && next < len(r.Approvals) && r.Approvals[next] == approval.ID() {
			if v.withdrawn[p.ID] {
				return fmt.Errorf("roster lists %s, who withdrew", p.ID)
			}
			members = append(members, p)
			next++
		}
	}
	if next != len(r.Approvals) {
		return errors.New("roster lists an approval that is not on the board, or not in the order of raw public keys")
	}
	v.members, v.roster = members, e.ID()
	return nil
}

// undecided returns the listed parties that have neither approved nor withdrawn.
func (v *view) undecided() []protocol.PeerID {
	var out []protocol.PeerID
	for _, p := range v.study.Parties {
		if _, approved := v.posted(p.ID, protocol.KindApprove); !approved && !v.withdrawn[p.ID] {
			out = append(out, p.ID)
		}
	}
	return out
}
