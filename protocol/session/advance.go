package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// advance takes every step that what is known now allows. It is the party's
// transition table: each block's condition is a state, its body the transition.
func (p *Party) advance(out *Effects) {
	if p.failure != nil || p.ended() {
		return
	}
	if p.view.stop != nil {
		p.close(&StoppedError{*p.view.stop}, out)
		return
	}
	if _, consented := p.mine(protocol.KindApprove); !consented {
		return
	}
	_, arrived := p.view.posted(p.signer.ID(), protocol.KindRelease)
	switch {
	case p.view.members != nil && !p.view.member(p.signer.ID()):
		p.fail(errors.New("the aggregator fixed a roster without this party: its approval came late"))
		return
	case p.view.result != nil && !arrived:
		p.close(ErrLeftOut, out)
		return
	case !p.released && p.now >= p.study.Deadline:
		p.close(p.overdue(), out)
		return
	case p.view.members == nil:
		return
	}
	for _, round := range []func(*Effects) (bool, error){p.toCommitted, p.toShared, p.toConfirmed, p.toSeeded, p.toReleased} {
		done, err := round(out)
		if err != nil {
			p.fail(err)
		}
		if !done || err != nil {
			return
		}
	}
}

// toCommitted: approved → committed, when the roster is fixed.
func (p *Party) toCommitted(out *Effects) (bool, error) {
	if _, done := p.mine(protocol.KindCommit); done {
		return p.view.complete(protocol.KindCommit), p.haveSecrets()
	}
	secrets, err := agree.Begin(p.study.ID, theAttempt, p.signer.ID(), p.entropy)
	if err != nil {
		return false, err
	}
	data, err := secrets.MarshalBinary()
	if err != nil {
		return false, err
	}
	p.secrets = secrets
	out.Persist = append(out.Persist, SaveSecrets{theAttempt, append([]byte{agreeing}, data...)})
	p.sign(protocol.KindCommit, wire.EncodeCommit(secrets.Commit()), out)
	return false, nil
}

// haveSecrets checks that a party in the middle of an agreement still holds what
// it needs to end it.
func (p *Party) haveSecrets() error {
	if p.secrets == nil && p.seeded == nil && !p.released {
		return errors.New("the secrets of this study's seed agreement are gone: the study cannot go on here")
	}
	return nil
}

// toShared: committed → shared, when every commit is in.
func (p *Party) toShared(out *Effects) (bool, error) {
	if _, done := p.mine(protocol.KindShare); done {
		return p.view.complete(protocol.KindShare), nil
	}
	share, err := p.secrets.Share(p.view.group(), inOrder(p.view, p.view.commits))
	if err != nil {
		return false, p.attribute(protocol.KindCommit, err)
	}
	p.sign(protocol.KindShare, wire.EncodeShare(share), out)
	return false, nil
}

// toConfirmed: shared → confirmed, when every share is in, opens and matches.
func (p *Party) toConfirmed(out *Effects) (bool, error) {
	if p.seeded == nil && !p.released {
		outcome, err := p.secrets.Open(p.view.group(), inOrder(p.view, p.view.commits), inOrder(p.view, p.view.shares))
		if err != nil {
			return false, p.attribute(protocol.KindShare, err)
		}
		p.seeded = &outcome
	}
	if _, done := p.mine(protocol.KindConfirm); done {
		return p.view.complete(protocol.KindConfirm), nil
	}
	c, err := p.seeded.Confirm(p.signer.ID())
	if err != nil {
		return false, err
	}
	p.sign(protocol.KindConfirm, wire.EncodeConfirm(protocol.Confirm{Confirm: c, Count: p.view.count(), Chain: p.view.chain()}), out)
	return false, nil
}

// toSeeded: confirmed → seeded, when every confirmation verifies: a certificate.
// The agreement's secrets give way to the seed alone.
func (p *Party) toSeeded(out *Effects) (bool, error) {
	if p.certain {
		return true, nil
	}
	for _, m := range p.view.members {
		if p.checked[m.ID] {
			continue
		}
		if err := p.seeded.Check(m.ID, p.view.confirms[m.ID].Confirm); err != nil {
			return false, &protocol.Fault{Culprit: m.ID, Kind: protocol.KindConfirm, Attempt: theAttempt, Err: err}
		}
		p.checked[m.ID] = true
	}
	p.certain, p.secrets = true, nil
	out.Persist = append(out.Persist, SaveSecrets{theAttempt, p.seededSecrets()})
	return true, nil
}

// toReleased: seeded → sketched → released. A release is made once; after that
// only its upload may be repeated.
func (p *Party) toReleased(out *Effects) (bool, error) {
	switch {
	case !p.released:
		if p.offer("release") {
			out.Run = append(out.Run, MakeRelease{Attempt: theAttempt, Seed: p.seeded.Seed, T2: p.seeded.T2})
		}
		return false, nil
	case !p.uploaded:
		header, ok := p.mine(protocol.KindRelease)
		if !ok {
			return false, errors.New("a release is stored but its header is not among the own envelopes")
		}
		if _, posted := p.view.posted(p.signer.ID(), protocol.KindRelease); posted && p.offer("upload") {
			r, err := wire.DecodeRelease(header.Payload())
			if err != nil {
				return false, err
			}
			out.Run = append(out.Run, Upload{r})
		}
		return false, nil
	case p.view.result != nil && !p.finished && p.offer("result"):
		out.Run = append(out.Run, FetchResult{*p.view.result})
	}
	return false, nil
}

// offer reports whether a job has not been given out yet.
func (p *Party) offer(job string) bool {
	if p.offered[job] {
		return false
	}
	p.offered[job] = true
	return true
}

// overdue says what the upload deadline has ended for a party without a release:
// nothing new may begin, and above all nothing may be debited, that can no longer
// be used.
func (p *Party) overdue() error {
	what := "the seed agreement"
	if _, committed := p.mine(protocol.KindCommit); !committed {
		what = "the roster"
	}
	if p.certain {
		what = "this party's release"
	}
	return &DeadlineError{what, p.study.Deadline}
}

// ErrLeftOut reports a result that was made without this party's release.
var ErrLeftOut = errors.New("the aggregator closed the study before this party's release arrived")

// close ends a study that nothing of this party can enter any more, and with it
// every secret.
func (p *Party) close(err error, out *Effects) {
	p.fail(err)
	if p.secrets != nil || p.seeded != nil {
		p.secrets, p.seeded = nil, nil
		out.Persist = append(out.Persist, DestroySecrets{})
	}
}

// storedRelease: the release is durable, so the seed has done its work.
func (p *Party) storedRelease(header protocol.Verified, out *Effects) {
	if p.released {
		return
	}
	p.released = true
	p.own = append(p.own, header)
	if p.seeded != nil {
		p.seeded.Seed.Destroy()
	}
	p.secrets, p.seeded = nil, nil
	out.Persist = append(out.Persist, SaveEnvelope{header}, DestroySecrets{})
}

// attribute turns an agreement fault into one that names the peer.
func (p *Party) attribute(kind protocol.Kind, err error) error {
	var f *agree.Fault
	if !errors.As(err, &f) {
		return err
	}
	return &protocol.Fault{Culprit: p.view.members[f.Member].ID, Kind: kind, Attempt: theAttempt, Err: f.Err}
}

// What the secrets file holds, by its first byte.
const (
	agreeing byte = 1 // the agreement's secrets
	holding  byte = 2 // seed ‖ T1 ‖ T2, after the certificate
)

func (p *Party) seededSecrets() []byte {
	root := p.seeded.Seed.Bytes()
	b := append([]byte{holding}, root[:]...)
	b = append(b, p.seeded.T1[:]...)
	return append(b, p.seeded.T2[:]...)
}

func (p *Party) restoreSecrets(data []byte) (err error) {
	switch {
	case len(data) > 1 && data[0] == agreeing:
		p.secrets, err = agree.ParseSecrets(data[1:], p.study.ID, theAttempt, p.signer.ID())
		return err
	case len(data) > 0 && data[0] == holding:
		outcome, err := Agreed(data)
		p.seeded, p.certain = &outcome, err == nil
		return err
	}
	return errDamagedSecrets
}

var errDamagedSecrets = errors.New("the secrets file is damaged")

// ErrNotAgreed reports secrets of an agreement that has not ended.
var ErrNotAgreed = errors.New("the parties have not agreed on the seed yet")

// Agreed reads the outcome of the seed agreement from what SaveSecrets stored after
// the certificate, for work on the own sketch beside the machine. Before that it is
// ErrNotAgreed.
func Agreed(secrets []byte) (agree.Outcome, error) {
	switch {
	case len(secrets) > 1 && secrets[0] == agreeing:
		return agree.Outcome{}, ErrNotAgreed
	case len(secrets) == 1+3*32 && secrets[0] == holding:
		return agree.Outcome{Seed: seed.FromBytes([32]byte(secrets[1:33])), T1: [32]byte(secrets[33:65]), T2: [32]byte(secrets[65:97])}, nil
	}
	return agree.Outcome{}, errDamagedSecrets
}

// ended reports whether the party has nothing left to do.
func (p *Party) ended() bool {
	_, withdrawn := p.mine(protocol.KindWithdraw)
	return p.finished || withdrawn
}

// Status says where the study stands for this party.
func (p *Party) Status() Status {
	v, me := p.view, p.signer.ID()
	waits := func(s State, what string, from []protocol.PeerID) Status {
		return Status{State: s, WaitFor: what, From: from, Until: p.study.Deadline}
	}
	aggregator := []protocol.PeerID{p.study.Aggregator.ID}
	_, withdrawn := p.mine(protocol.KindWithdraw)
	switch {
	case withdrawn:
		return Status{State: Withdrawn}
	case p.finished:
		return Status{State: Done}
	case p.failure != nil:
		return Status{State: Failed, Failure: p.failure}
	case p.uploaded:
		if v.result != nil {
			return waits(Released, "fetching the result", []protocol.PeerID{me})
		}
		return waits(Released, "the result", aggregator)
	case p.released:
		return waits(Sketched, "sending the release", []protocol.PeerID{me})
	case p.certain:
		return waits(Seeded, "making the sketch", []protocol.PeerID{me})
	}
	for _, round := range []struct {
		kind protocol.Kind
		at   State
	}{{protocol.KindConfirm, Confirmed}, {protocol.KindShare, Shared}, {protocol.KindCommit, Committed}} {
		if _, done := p.mine(round.kind); done {
			return waits(round.at, fmt.Sprintf("%s messages", round.kind), v.lacking(round.kind))
		}
	}
	if _, approved := p.mine(protocol.KindApprove); approved {
		from, until := v.undecided(), p.study.Expires
		if len(from) == 0 || p.now >= until {
			return waits(Approved, "the roster", aggregator)
		}
		return Status{State: Approved, WaitFor: "approvals", From: from, Until: until}
	}
	return Status{State: Invited, WaitFor: "this party's approval", From: []protocol.PeerID{me}, Until: p.study.Expires}
}

// Announced reports whether others have heard of this party: its approval, or its
// withdrawal, is on the board.
func (p *Party) Announced() bool {
	for _, kind := range []protocol.Kind{protocol.KindApprove, protocol.KindWithdraw} {
		if _, there := p.view.posted(p.signer.ID(), kind); there {
			return true
		}
	}
	return false
}

// Count is how much of the board the machine has seen.
func (p *Party) Count() uint64 { return p.view.count() }

// Result returns the aggregator's result statement and its envelope's id, once
// it is on the board.
func (p *Party) Result() (protocol.Result, bool) {
	if p.view.result == nil {
		return protocol.Result{}, false
	}
	return *p.view.result, true
}
