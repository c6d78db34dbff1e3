package session

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/wait"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
)

// Void attempts: masks cancel in the sum over all members of the attempt that gave the seed. If one
// of them is lost after the certificate, the releases of the others are useless. At the attempt's
// end the aggregator names the lost members. The others continue with the next attempt, under
// another seed and other masks, and release anew: this is another debit, with noise for the
// remaining members. An aggregator that feigns a loss gains a second sum, which is debited; the
// study's attempts bound how often (study.MostReleases). No attempt follows if too few members are
// left or it was the last. Then the study stops at its deadline.

// ErrVoid reports a message of an attempt whose masked sum lacks a release.
var ErrVoid error = fail.VoidAttempt

// voidable reports whether the certified attempt can still be given up for another.
func (v *view) voidable(a *attempt) bool {
	return v.study.Masked() && a != nil && a == v.certified() && a == v.current() && len(v.results) == 0 &&
		len(a.members) > v.study.Quorum && int64(a.number) < int64(v.study.Attempts)
}

// releaseBy returns the time until which a release of the certified attempt is sure to be awaited.
func (v *view) releaseBy(a *attempt) protocol.Instant {
	if v.voidable(a) {
		return v.study.AgreeBy(a.number)
	}
	return v.study.Closes()
}

// voids reports whether accusations concern masked releases or first rounds.
func voids(x protocol.Accusations) bool {
	return x.Against[0].Kind == protocol.KindRelease || x.Against[0].Kind == protocol.KindFirst
}

// delivery returns the kind of message that a certified attempt waits for.
func (a *attempt) delivery() protocol.Kind {
	if a.between() {
		return protocol.KindFirst
	}
	return protocol.KindRelease
}

// delivered reports whether a member's message of that kind is on the board.
func (a *attempt) delivered(id protocol.PeerID) (ok bool) {
	if a.between() {
		ok = a.firsts.has(id)
	} else {
		_, ok = a.releases[id]
	}
	return ok
}

// void admits the aggregator's statement that masked releases have not arrived. Missing headers are
// visible to all; missing chunks are the aggregator's word.
func (v *view) void(e protocol.Verified, x protocol.Accusations) error {
	a := v.at(e.Attempt())
	if !v.voidable(a) {
		return fmt.Errorf("%w: attempt %d is not one that waits for masked releases and can be followed by another", ErrPremature, e.Attempt())
	}
	if by := v.study.AgreeBy(a.number); x.At < by {
		return fmt.Errorf("dated %s, but the attempt has until %s", x.At, by)
	}
	accused := map[protocol.PeerID]bool{}
	for _, one := range x.Against {
		if one.Kind != a.delivery() || one.Cause != protocol.CauseMissing {
			return fmt.Errorf("accusation of %s: %s of %s, and the attempt waits for each %s", one.Culprit, one.Cause, one.Kind, a.delivery())
		}
		if !a.member(one.Culprit) {
			return fmt.Errorf("accusation of %s: %w", one.Culprit, errNotMember)
		}
		accused[one.Culprit] = true
	}
	for _, m := range a.members {
		if !a.delivered(m.ID) && !accused[m.ID] {
			return fmt.Errorf("%s is not accused, and its %s is not on the board", m.ID, a.delivery())
		}
	}
	if left := len(a.members) - len(accused); left < v.study.Quorum {
		return fmt.Errorf("%d members would be left, the quorum is %d", left, v.study.Quorum)
	}
	for _, one := range x.Against {
		a.remove(one.Culprit, one.Kind, e.ID(), false, ErrNotReceived)
	}
	a.void, a.certified = true, false
	return nil
}

// leave: seeded or released → approved, when the attempt is void. Nothing made for it is sent any
// more.
func (p *Party) leave(a *attempt, out *Effects) {
	if p.seededIn != a.number {
		return // the store is at a later attempt
	}
	switch {
	case p.seeded == nil:
	case a.removal(p.signer.ID()) == nil: // between two rounds
		p.spend(out)
	default: // it has not released, and is in no further attempt
		p.destroy(0, out)
	}
	p.seededIn, p.released, p.uploaded = 0, false, false
}

// spend destroys the secrets of the attempt whose masked release is stored.
func (p *Party) spend(out *Effects) {
	if p.seeded == nil {
		return
	}
	p.seeded.Seed.Destroy()
	p.seeded.Pairs.Destroy()
	p.seeded = nil
	out.Persist = append(out.Persist, DestroySecrets{p.seededIn})
}

// Wants reports whether a job that was given out still has to be done. A job of a void attempt does
// not: above all, nothing is debited for it.
func (p *Party) Wants(job Job) bool {
	a := p.view.at(p.seededIn)
	switch job := job.(type) {
	case MakeFirst:
		return a != nil && a.certified && a.between() && p.seededIn == job.Attempt && !p.signed(protocol.KindFirst, job.Attempt)
	case MakeRelease:
		return !p.released && p.seededIn == job.Attempt && !p.awaitsFirst() && !p.endsOnFirst()
	case Upload:
		return p.released && !p.uploaded && !p.endsOnFirst() && (a == nil || !a.certified || a.transcript() == job.Header.T2)
	}
	return true
}

// toSummed: collecting → computing, when the masked release of every member is here. At the
// attempt's end it starts the next attempt without members whose releases are missing, if the
// others are a quorum. At the deadline it stops the study.
func (a *Aggregator) toSummed(t *attempt, out *Effects) {
	ready, lost := a.ready(t), a.awaited()
	switch {
	case len(lost) == 0:
		a.computing = true
		out.Run = append(out.Run, Compute{Attempt: t.number, T2: t.transcript(), Releases: ready, Complete: true, Interim: t.interim})
	case a.now >= a.study.Deadline:
		a.toFirstOnly(t, fmt.Sprintf("%d of %d masked releases arrived before the deadline, but a masked sum needs all of them: start a new study without the missing parties", len(ready), len(t.members)), lost, out)
	case a.now >= a.study.AgreeBy(t.number) && a.again(t):
		a.voidAttempt(t, protocol.KindRelease, lost, out)
	}
}

// voidAttempt ends an attempt that gave a seed, because members have not delivered.
func (a *Aggregator) voidAttempt(t *attempt, owed protocol.Kind, lost []protocol.PeerID, out *Effects) {
	x := protocol.Accusations{At: a.now}
	for _, id := range lost {
		x.Against = append(x.Against, protocol.Accusation{Culprit: id, Cause: protocol.CauseMissing, Kind: owed})
	}
	a.own(protocol.KindFault, t.number, wire.EncodeAccusations(x), out)
	a.collected = map[protocol.PeerID]bool{}
	a.advance(out)
}

// again reports whether the members whose releases are here may continue without the others.
func (a *Aggregator) again(t *attempt) bool {
	return a.view.voidable(t) && len(a.ready(t)) >= a.study.Quorum
}

// summing returns the status of an aggregator that waits for masked releases.
func (a *Aggregator) summing(t *attempt) Status {
	s := Status{State: Collecting, WaitFor: wait.AllReleases, From: a.awaited(), Until: a.study.Deadline}
	if by := a.study.AgreeBy(t.number); a.now < by && a.view.voidable(t) {
		s.Until = by
	}
	return s
}

// stale lists the secrets to be destroyed because they outlived their release: those of its attempt
// and earlier ones. Later secrets belong to an attempt after a void one.
func stale(secrets map[uint32]seed.Hidden, released uint32) (out []DestroySecrets) {
	for attempt := range secrets {
		if attempt <= released {
			out = append(out, DestroySecrets{attempt})
		}
	}
	slices.SortFunc(out, func(a, b DestroySecrets) int { return int(a.Attempt) - int(b.Attempt) })
	return out
}
