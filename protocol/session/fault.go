package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// An attempt may end without a seed by:
//
//   - a complaint, by which a member shows that what it was sent is wrong;
//   - a fault, by which the aggregator shows two contradicting messages or an
//     impossible one, or claims that something did not arrive or does not fit;
//   - a withdrawal, before the member committed.
//
// Members then abandon an attempt that somebody may have completed. A member that did complete it
// answers the next roster with the certificate.

// complain admits a complaint: a member opens its side of the attempt. Everybody recomputes it. A
// member convicted by that is not in the next attempt; it may be the complainant.
func (v *view) complain(e protocol.Verified) error {
	a, err := v.ofMember(e)
	if err != nil {
		return err
	}
	opening, err := wire.DecodeComplaint(e.Payload())
	if err != nil {
		return err
	}
	if !v.study.Apart() && len(opening.Wrong)+len(opening.Opened) > 0 {
		return errors.New("it shows sealed texts, but this study's shares already contain them")
	}
	faults, err := a.record().Examine(a.index(e.Sender()), opening)
	if err != nil {
		return err
	}
	if a.certified && !wrongConfirm(faults[0].Err) {
		// A member that confirmed holds the seed. Faults in how the seed came about do not stop it.
		return fmt.Errorf("the certificate stands: %w", faults[0].Err)
	}
	a.certified = false
	for _, f := range faults {
		kind := protocol.KindShare
		switch culprit := a.members[f.Member].ID; {
		case wrongConfirm(f.Err):
			kind = protocol.KindConfirm
		case culprit == e.Sender():
			kind = protocol.KindComplaint
		}
		culprit := a.members[f.Member].ID
		a.remove(culprit, kind, e.ID(), true, v.unproved(culprit, kind, f.Err))
	}
	return nil
}

// wrongConfirm reports whether an opened attempt convicts a confirmation.
func wrongConfirm(err error) bool {
	return errors.Is(err, agree.ErrConfirmTag) || errors.Is(err, agree.ErrPublished)
}

// remove removes a member for a fault.
func (a *attempt) remove(culprit protocol.PeerID, kind protocol.Kind, by protocol.Digest, proved bool, err error) {
	a.removals = append(a.removals, Removal{
		Member: culprit, By: by, Proved: proved,
		Err: &protocol.Fault{Culprit: culprit, Kind: kind, Attempt: a.number, Err: err},
	})
}

// ErrNotReceived is a claim. It blames nobody: the message may have been lost or withheld.
var ErrNotReceived = errors.New("not received by the aggregator")

// accuse admits the aggregator's dated statement that an attempt is over. Every accusation is
// judged here; one that does not hold is the aggregator's own fault.
func (v *view) accuse(e protocol.Verified) error {
	x, err := wire.DecodeAccusations(e.Payload())
	if err != nil {
		return err
	}
	if voids(x) {
		return v.void(e, x)
	}
	a := v.at(e.Attempt())
	if a.certified {
		return fmt.Errorf("%w: attempt %d gave the seed", ErrPassed, a.number)
	}
	var found []error
	for _, one := range x.Against {
		err, holds := v.judge(a, one, x.At)
		if holds != nil {
			return fmt.Errorf("accusation of %s: %w", one.Culprit, holds)
		}
		found = append(found, err)
	}
	for i, one := range x.Against {
		a.remove(one.Culprit, one.Kind, e.ID(), one.Cause.Proved(), found[i])
	}
	return nil
}

// judge examines the evidence for one accusation. It returns what the culprit did, or why the
// accusation does not hold.
func (v *view) judge(a *attempt, one protocol.Accusation, at protocol.Instant) (did, holds error) {
	if !a.member(one.Culprit) {
		return nil, errNotMember
	}
	if one.Cause == protocol.CauseMissing {
		switch {
		case one.Kind != a.round():
			return nil, fmt.Errorf("the attempt waits for %s messages, not for %s", a.round(), one.Kind)
		case a.has(one.Culprit, one.Kind):
			return nil, fmt.Errorf("its %s is already on the board", one.Kind)
		case at < a.study.AgreeBy(a.number):
			return nil, fmt.Errorf("dated %s, but the attempt has until %s", at, a.study.AgreeBy(a.number))
		}
		return ErrNotReceived, nil
	}
	var shown []protocol.Verified
	for _, plain := range one.Evidence {
		if len(plain.Texts)+len(plain.Path) > 0 {
			return nil, errTexts
		}
		e, err := protocol.Verify(plain)
		if err != nil {
			return nil, fmt.Errorf("evidence: %w", err)
		}
		if e.Study() != v.study.ID || e.Sender() != one.Culprit || e.Kind() != one.Kind || e.Attempt() != a.number {
			return nil, fmt.Errorf("evidence is %s, which is not the accused message", e)
		}
		shown = append(shown, e)
	}
	if one.Cause == protocol.CauseConflict {
		if shown[0].ID() == shown[1].ID() {
			return nil, errors.New("the evidence contains one message twice")
		}
		return ErrConflict, nil
	}
	var u *unfit
	switch err := v.fits(a, shown[0]); {
	case err == nil:
		return nil, errors.New("the evidence does not prove the accusation: the message is valid")
	case !errors.As(err, &u) || u.cause != one.Cause:
		return nil, fmt.Errorf("the evidence does not prove the accusation: %v", err)
	}
	return u.err, nil
}

// fits returns what is wrong with a member's message of an attempt. An *unfit ends the member's
// part in it.
func (v *view) fits(a *attempt, e protocol.Verified) error {
	switch e.Kind() {
	case protocol.KindCommit:
		_, err := v.readCommit(a, e)
		return err
	case protocol.KindShare:
		_, err := v.readShare(a, e)
		return err
	case protocol.KindConfirm:
		c, err := v.readConfirm(a, e)
		if err != nil {
			return err
		}
		if err := v.checkPrefix(e.Sender(), c.Count, c.Chain); err != nil {
			return differs(err)
		}
		return nil
	}
	return fmt.Errorf("%s is not a message of the agreement", e.Kind())
}

// abandon admits a member's statement that it does not hold the seed of an attempt and never will.
func (v *view) abandon(e protocol.Verified) error {
	if err := wire.DecodeAbandon(e.Payload()); err != nil {
		return err
	}
	a, err := v.ofMember(e)
	if err != nil {
		return err
	}
	a.abandoned[e.Sender()] = true
	return nil
}

// certificate admits a seeded member's proof that an earlier attempt was completed.
func (v *view) certificate(e protocol.Verified) error {
	c, err := wire.DecodeCertificate(e.Payload())
	if err != nil {
		return err
	}
	a, err := v.ofMember(e)
	switch {
	case err != nil:
		return err
	case len(a.abandoned) > 0:
		return fmt.Errorf("%w: attempt %d was abandoned", ErrPassed, e.Attempt())
	case len(c.Confirms) != len(a.members):
		return fmt.Errorf("%d confirmations of %d members", len(c.Confirms), len(a.members))
	}
	confirms := posted{places: a.places, most: len(a.members)}
	for i, m := range a.members {
		one, err := protocol.Verify(c.Confirms[i])
		if err != nil {
			return err
		}
		if one.Study() != v.study.ID || one.Sender() != m.ID || one.Kind() != protocol.KindConfirm || one.Attempt() != a.number {
			return fmt.Errorf("%s is not the confirmation of %s", one, m.ID)
		}
		if _, err = v.readConfirm(a, one); err != nil {
			return err
		}
		confirms.put(one)
	}
	a.confirms, a.published, a.certified = confirms, nil, true
	return nil
}
