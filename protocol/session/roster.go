package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Approval and roster (round 0): parties post approve, and can take it back by a signed withdraw
// until they commit. The aggregator fixes who takes part and, after a fault, who takes part in the
// next attempt.

// ErrMeaning reports that two nodes read one study file differently: they run different versions of
// the software.
var ErrMeaning error = fail.OtherMeaning

func (v *view) approve(e protocol.Verified) error {
	a, err := wire.DecodeApprove(e.Payload())
	if err != nil {
		return err
	}
	if a.Meaning != v.study.Meaning {
		return v.otherMeaning(e.Sender(), a.Meaning)
	}
	return nil
}

func (v *view) withdraw(e protocol.Verified) error {
	if err := wire.DecodeWithdraw(e.Payload()); err != nil {
		return err
	}
	for _, a := range v.attempts {
		if a.has(e.Sender(), protocol.KindCommit) {
			return fmt.Errorf("%w: the party has committed", ErrPassed)
		}
	}
	v.withdrawn[e.Sender()] = true
	if a := v.current(); a != nil && a.member(e.Sender()) && a.removal(e.Sender()) == nil {
		a.removals = append(a.removals, Removal{Member: e.Sender(), By: e.ID(), Err: ErrWithdrew})
	}
	return nil
}

// approvals lists the parties that approved and did not withdraw, by raw key.
func (v *view) approvals() (parties []study.Party, ids []protocol.Digest) {
	for _, p := range v.study.Parties {
		if e, ok := v.posted(p.ID, protocol.KindApprove, 0); ok && !v.withdrawn[p.ID] {
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
	a := v.current()
	if a != nil {
		return v.fixNext(e, r, a)
	}
	if e.Attempt() != 1 || len(r.Faults) > 0 {
		return fmt.Errorf("%w: a roster of attempt %d with %d faults, before any attempt was made", ErrPremature, e.Attempt(), len(r.Faults))
	}
	var members []study.Party
	next := 0
	for _, p := range v.study.Parties {
		approval, ok := v.posted(p.ID, protocol.KindApprove, 0)
		if ok && next < len(r.Approvals) && r.Approvals[next] == approval.ID() {
			if v.withdrawn[p.ID] {
				return fmt.Errorf("roster lists %s, who withdrew", p.ID)
			}
			members = append(members, p)
			next++
		}
	}
	if next != len(r.Approvals) {
		return errors.New("roster lists an approval that is not on the board, or lists them in another order than the raw public keys")
	}
	v.attempts = append(v.attempts, newAttempt(v.study, e.Attempt(), e.ID(), members))
	return nil
}

// fixNext admits the only possible next roster, which the board determines: the remaining members
// of the previous attempt, and every envelope that removed one.
func (v *view) fixNext(e protocol.Verified, r protocol.Roster, before *attempt) error {
	switch {
	case e.Attempt() != before.number+1:
		return fmt.Errorf("%w: a roster of attempt %d after one of attempt %d", ErrPremature, e.Attempt(), before.number)
	case !before.over() || v.certified() != nil:
		return fmt.Errorf("%w: attempt %d is not over", ErrPremature, before.number)
	}
	want := v.nextRoster()
	if !slices.Equal(r.Faults, want.Faults) {
		return errors.New("roster must list all faults of the previous attempt, in the board's order")
	}
	if !slices.Equal(r.Approvals, want.Approvals) {
		return errors.New("roster must be the members of the previous attempt without those removed")
	}
	v.attempts = append(v.attempts, newAttempt(v.study, e.Attempt(), e.ID(), before.survivors()))
	clear(v.late) // a newcomer to the previous attempt must ask again
	return nil
}

// nextRoster returns the roster that must follow an attempt that is over.
func (v *view) nextRoster() (r protocol.Roster) {
	before := v.current()
	for _, m := range before.survivors() {
		approval, _ := v.posted(m.ID, protocol.KindApprove, 0)
		r.Approvals = append(r.Approvals, approval.ID())
	}
	for _, one := range before.removals {
		if !slices.Contains(r.Faults, one.By) {
			r.Faults = append(r.Faults, one.By)
		}
	}
	return r
}

// undecided returns the listed parties that have neither approved nor withdrawn.
func (v *view) undecided() []protocol.PeerID {
	var out []protocol.PeerID
	for _, p := range v.study.Parties {
		if _, approved := v.posted(p.ID, protocol.KindApprove, 0); !approved && !v.withdrawn[p.ID] {
			out = append(out, p.ID)
		}
	}
	return out
}
