package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// advance takes every step that is possible now. The table PartyTransitions says which states
// follow each other, and who is waited for.
func (p *Party) advance(out *Effects) {
	if p.failure != nil || p.ended() {
		return
	}
	if p.view.stop != nil {
		p.close(&StoppedError{*p.view.stop, p.view.stopCause(), p.view.lastBlame()}, out)
		return
	}
	if !p.consented {
		return
	}
	if err := p.bounds(); err != nil {
		p.close(err, out)
		return
	}
	if !p.live {
		// If a store was reset to an earlier state, the board shows own messages that the store
		// lacks. So nothing is signed or drawn before the board was read.
		return
	}
	if err := p.proceed(out); err != nil {
		p.fail(err)
	}
}

// bounds returns what has ended the study for this party: a date, or a board that continues without
// it.
func (p *Party) bounds() error {
	v, me := p.view, p.signer.ID()
	a := v.certified()
	arrived := false
	if a != nil {
		_, arrived = a.releases[me]
		arrived = arrived || p.endsOnFirst()
	}
	switch {
	case v.ended() && !arrived:
		if r := p.removal(); r != nil {
			return &StruckError{*r}
		}
		return ErrLeftOut
	case a != nil && a.interim != nil && !v.contributor(me):
		return ErrLeftOut
	case p.released, p.endsOnFirst(), p.awaitsFirst():
		return nil
	case p.now >= p.study.Closes():
		return p.overdue()
	case p.now >= p.study.Deadline && p.seededIn == 0 && !p.isLate():
		return p.overdue()
	}
	return nil
}

// proceed dispatches on the party's progress: seeded, a member of the newest attempt, or late.
func (p *Party) proceed(out *Effects) error {
	for _, a := range p.view.attempts {
		if err := p.certify(a, out); err != nil {
			return err
		}
		p.settle(a, out)
	}
	switch a := p.view.current(); {
	case a == nil:
		return nil
	case p.endsOnFirst(): // whether or not it made something of the second round or has secrets left
		p.fetch(p.view.result(), out)
		p.destroy(0, out)
		return nil
	case p.awaitsFirst():
		p.destroy(0, out)
		return nil
	case p.seededIn != 0:
		return p.seededSteps(out)
	case p.isLate():
		return p.lateSteps(out)
	case a.over():
		if r := p.removal(); r != nil {
			p.destroy(0, out)
			return &StruckError{*r}
		}
		return nil
	case !a.member(p.signer.ID()):
		p.destroy(0, out)
		return p.whyOut()
	default:
		return p.agree(a, out)
	}
}

// removal returns why this party is in no further roster, or nil.
func (p *Party) removal() *Removal {
	for _, a := range p.view.attempts {
		if r := a.removal(p.signer.ID()); r != nil {
			return r
		}
	}
	return nil
}

// whyOut returns why the newest roster excludes this party.
func (p *Party) whyOut() error {
	if r := p.removal(); r != nil {
		return &StruckError{*r}
	}
	return errors.New("the aggregator fixed a roster without this party: its approval came too late")
}

// agree runs the rounds of an attempt as far as the board allows.
func (p *Party) agree(a *attempt, out *Effects) error {
	if p.signed(protocol.KindComplaint, a.number) {
		return nil // the others examine it
	}
	for _, round := range []func(*attempt, *Effects) (bool, error){p.toCommitted, p.toShared, p.toConfirmed} {
		if done, err := round(a, out); !done || err != nil {
			return err
		}
	}
	return nil
}

// toCommitted: approved → committed, when the roster is fixed and no earlier attempt can have given
// anybody a seed.
func (p *Party) toCommitted(a *attempt, out *Effects) (bool, error) {
	if p.signed(protocol.KindCommit, a.number) {
		return a.complete(protocol.KindCommit), p.haveSecrets(a)
	}
	if len(p.abandonmentsMissing(a)) > 0 {
		return false, nil
	}
	secrets, err := agree.Begin(p.study.ID, a.number, p.signer.ID(), p.entropy)
	if err != nil {
		return false, err
	}
	data, err := secrets.MarshalBinary()
	if err != nil {
		return false, err
	}
	p.tries[a.number] = &agreement{secrets: secrets, checked: map[protocol.PeerID]bool{}}
	out.Persist = append(out.Persist, SaveSecrets{a.number, seed.Hide(append([]byte{agreeing}, data...))})
	p.sign(protocol.KindCommit, a.number, wire.EncodeCommit(secrets.Commit()), out)
	return false, nil
}

// abandonmentsMissing lists the members of a new attempt's roster that still have to abandon an
// earlier attempt which this party confirmed and which ended on the aggregator's word.
func (p *Party) abandonmentsMissing(a *attempt) []protocol.PeerID {
	for _, before := range p.view.attempts {
		if before.number < a.number && before.doubtful() && p.signed(protocol.KindConfirm, before.number) {
			if missing := before.awaited(a.members); len(missing) > 0 {
				return missing
			}
		}
	}
	return nil
}

// haveSecrets checks that a party in the middle of an attempt still holds the secrets to finish it.
func (p *Party) haveSecrets(a *attempt) error {
	if t := p.tries[a.number]; t == nil || t.secrets == nil {
		return errors.New("this node has lost its secrets for the seed agreement, and cannot continue the study")
	}
	return nil
}

// toShared: committed → shared, when every commit is in.
func (p *Party) toShared(a *attempt, out *Effects) (bool, error) {
	if p.signed(protocol.KindShare, a.number) {
		return a.complete(protocol.KindShare), nil
	}
	share, err := p.tries[a.number].secrets.Share(a.group(), a.commitsInOrder())
	if err != nil {
		return false, a.attribute(protocol.KindCommit, err)
	}
	var texts [][]byte
	if p.study.Apart() {
		texts = share.Sealed
	}
	p.signBeside(protocol.KindShare, a.number, wire.EncodeShare(share), texts, out)
	return false, nil
}

// toConfirmed: shared → confirmed, when every share is in, opens and matches. The party complains
// of a share that does not.
func (p *Party) toConfirmed(a *attempt, out *Effects) (bool, error) {
	if p.signed(protocol.KindConfirm, a.number) {
		return true, nil
	}
	outcome, err := p.outcome(a)
	if err != nil {
		return false, p.complainOf(a, a.attribute(protocol.KindShare, err), out)
	}
	c, err := outcome.Confirm(p.signer.ID())
	if err != nil {
		return false, err
	}
	// A party that confirms gives up every earlier attempt for good.
	for _, before := range p.view.attempts[:a.number-1] {
		p.destroy(before.number, out)
	}
	p.sign(protocol.KindConfirm, a.number, wire.EncodeConfirm(protocol.Confirm{Confirm: c, Count: p.view.count(), Chain: p.view.chain()}), out)
	return false, nil
}

// outcome opens an attempt's shares, once.
func (p *Party) outcome(a *attempt) (*agree.Outcome, error) {
	t := p.tries[a.number]
	if t.outcome == nil {
		o, err := t.secrets.Open(a.group(), a.commitsInOrder(), a.sharesInOrder())
		if err != nil {
			return nil, err
		}
		t.outcome = &o
	}
	return t.outcome, nil
}

// certify: confirmed → seeded, when every confirmation verifies: a certificate. The seed then
// replaces the agreement's secrets. The party complains of a confirmation under another seed as
// soon as it sees it.
func (p *Party) certify(a *attempt, out *Effects) error {
	t := p.tries[a.number]
	if p.seededIn != 0 || t == nil || t.secrets == nil || !p.signed(protocol.KindConfirm, a.number) {
		return nil
	}
	outcome, err := p.outcome(a)
	if err != nil {
		return err
	}
	for _, m := range a.members {
		c, posted := a.confirmed(m.ID)
		if !posted || t.checked[m.ID] {
			continue
		}
		if err := outcome.Check(m.ID, c.Confirm); err != nil {
			if a == p.view.current() && len(a.removals) == 0 {
				return p.complainOf(a, &protocol.Fault{Culprit: m.ID, Kind: protocol.KindConfirm, Attempt: a.number, Err: p.view.unproved(m.ID, protocol.KindConfirm, err)}, out)
			}
			return nil
		}
		t.checked[m.ID] = true
	}
	if !a.certified {
		return nil
	}
	p.seeded, p.seededIn = outcome, a.number
	secrets, err := p.seededSecrets()
	if err != nil {
		return err
	}
	out.Persist = append(out.Persist, SaveSecrets{a.number, seed.Hide(secrets)})
	for number := range p.tries {
		if number != a.number {
			out.Persist = append(out.Persist, DestroySecrets{number})
		}
	}
	p.tries = map[uint32]*agreement{}
	return nil
}

// complainOf opens this party's side of an attempt if err names a culprit; any other error is the
// party's own.
func (p *Party) complainOf(a *attempt, err error, out *Effects) error {
	var f *protocol.Fault
	if !errors.As(err, &f) {
		return err
	}
	if p.signed(protocol.KindComplaint, a.number) {
		return nil
	}
	opening, err := p.tries[a.number].secrets.Complaint(a.group(), a.commitsInOrder(), a.sharesInOrder())
	if err != nil {
		return err
	}
	p.sign(protocol.KindComplaint, a.number, wire.EncodeComplaint(opening), out)
	p.destroy(a.number, out)
	return nil
}

// settle does what is due for an attempt that is over. If somebody might have completed it, the
// party declares that it did not, and makes sure that it never will. It destroys the secrets of an
// attempt that it did not confirm: they have no use any more.
func (p *Party) settle(a *attempt, out *Effects) {
	me := p.signer.ID()
	if !a.over() || !a.member(me) || p.seededIn != 0 {
		return
	}
	abandons := a.doubtful() && a.removal(me) == nil
	if abandons && !p.signed(protocol.KindAbandon, a.number) {
		p.sign(protocol.KindAbandon, a.number, wire.EncodeAbandon(), out)
	}
	if abandons || !p.signed(protocol.KindConfirm, a.number) {
		p.destroy(a.number, out)
	}
}

// destroy destroys the secrets of one attempt, or of all (0).
func (p *Party) destroy(attempt uint32, out *Effects) {
	if attempt == 0 {
		if len(p.tries) > 0 || p.seeded != nil {
			out.Persist = append(out.Persist, DestroySecrets{})
		}
		if p.seeded != nil {
			p.seeded.Seed.Destroy()
			p.seeded.Pairs.Destroy()
		}
		p.tries, p.seeded = map[uint32]*agreement{}, nil
		return
	}
	if p.tries[attempt] != nil {
		delete(p.tries, attempt)
		out.Persist = append(out.Persist, DestroySecrets{attempt})
	}
}

// seededSteps takes the steps of a party that holds the certificate or has used it: answer a later
// attempt, release, welcome late parties, and fetch results.
func (p *Party) seededSteps(out *Effects) error {
	a := p.view.at(p.seededIn)
	if a == nil || !a.certified {
		return nil // the store is ahead of the board shown so far
	}
	p.checkNewcomers(a)
	if p.challenged && a.member(p.signer.ID()) && !p.signed(protocol.KindCertificate, a.number) && a.proofs.count == len(a.members) {
		var c protocol.Certificate
		for _, e := range a.proofs.inOrder() {
			c.Confirms = append(c.Confirms, e.Envelope())
		}
		p.sign(protocol.KindCertificate, a.number, wire.EncodeCertificate(c), out)
	}
	if !a.member(p.signer.ID()) && !p.signed(protocol.KindJoined, a.number) {
		return p.toJoined(a, out) // its seed was stored, and nothing after it
	}
	if err := p.welcomeLate(a, out); err != nil {
		return err
	}
	if done, err := p.toInterim(a, out); !done || err != nil {
		return err
	}
	return p.toReleased(a, out)
}

// toReleased: seeded → sketched → released. A release is made once; after that only its upload may
// be repeated.
func (p *Party) toReleased(a *attempt, out *Effects) error {
	_, posted := a.releases[p.signer.ID()]
	switch result := p.view.result(); {
	case !p.released:
		if p.seeded == nil {
			return errors.New("this node has lost the seed before using it, and cannot continue the study")
		}
		if p.offer(fmt.Sprintf("release %d", a.number)) {
			second, err := p.second(a)
			if err != nil {
				return err
			}
			out.Run = append(out.Run, MakeRelease{Attempt: a.number, Seed: p.seeded.Seed, T2: p.seeded.T2, Pairs: p.seeded.Pairs, Second: second})
		}
	case !p.uploaded:
		header, ok := p.mine(protocol.KindRelease, a.number)
		if !ok {
			return errors.New("a release is stored, but its header is not among this party's envelopes")
		}
		if posted && p.offer(fmt.Sprintf("upload %d", a.number)) {
			r, err := wire.DecodeRelease(header.Payload())
			if err != nil {
				return err
			}
			out.Run = append(out.Run, Upload{r})
		}
	case result != nil:
		p.fetch(result, out)
	}
	if p.view.ended() {
		p.destroy(0, out)
	}
	return nil
}

// fetch requests a result that is not stored, once.
func (p *Party) fetch(r *protocol.Result, out *Effects) {
	if r.Document.Hash != p.document && p.offer("result "+r.Document.Hash.String()) {
		out.Run = append(out.Run, FetchResult{*r})
	}
}

// offer reports whether a job is new, and records it.
func (p *Party) offer(job string) bool {
	if p.offered[job] {
		return false
	}
	p.offered[job] = true
	return true
}

// overdue returns what the study's dates have ended for a party without a release. Nothing may
// begin that can no longer be used; above all, nothing may be debited.
func (p *Party) overdue() error {
	what, until := "the seed agreement", p.study.Deadline
	switch {
	case p.seededIn != 0:
		what, until = "this party's release", p.study.Closes()
	case p.isLate():
		what, until = "a welcome", p.study.Closes()
	case !p.everSigned(protocol.KindCommit):
		what = "the roster"
	}
	return &DeadlineError{what, until}
}

// ErrLeftOut reports a result that was made without this party's release.
var ErrLeftOut error = fail.LeftOut

// close ends a study to which this party can contribute nothing any more, and destroys all its
// secrets.
func (p *Party) close(err error, out *Effects) {
	p.fail(err)
	p.destroy(0, out)
}

// storedRelease records a durable release. The seed is not needed any more, unless late parties may
// still ask for it.
func (p *Party) storedRelease(header protocol.Verified, out *Effects) {
	if p.released || header.Attempt() != p.seededIn {
		return // a release of a void attempt
	}
	p.released = true
	p.own = append(p.own, header)
	out.Persist = append(out.Persist, SaveEnvelope{header})
	switch {
	case p.study.Masked(): // another attempt may follow, with its own secrets
		p.spend(out)
	case !p.keepsSeed():
		p.destroy(0, out)
	}
}

// keepsSeed reports whether the party keeps the seed after its own release.
func (p *Party) keepsSeed() bool { return p.study.LateUntil != 0 }

// attribute turns an agreement fault into one that names the peer.
func (a *attempt) attribute(kind protocol.Kind, err error) error {
	var f *agree.Fault
	if !errors.As(err, &f) {
		return err
	}
	return &protocol.Fault{Culprit: a.members[f.Member].ID, Kind: kind, Attempt: a.number, Err: f.Err}
}

// The contents of a secrets file, by its first byte.
const (
	agreeing byte = 1 // the agreement's secrets
	holding  byte = 2 // seed ‖ T1 ‖ T2, after the certificate
	masking  byte = 3 // as holding, and what masks are drawn from
)

func (p *Party) seededSecrets() ([]byte, error) {
	root := p.seeded.Seed.Bytes()
	b := append([]byte{holding}, root[:]...)
	b = append(b, p.seeded.T1[:]...)
	b = append(b, p.seeded.T2[:]...)
	if !p.study.Masked() {
		return b, nil
	}
	b[0] = masking
	pairs, err := p.seeded.Pairs.MarshalBinary()
	return append(b, pairs...), err
}

func (p *Party) restoreSecrets(attempt uint32, data []byte) error {
	switch {
	case len(data) > 1 && data[0] == agreeing:
		secrets, err := agree.ParseSecrets(data[1:], p.study.ID, attempt, p.signer.ID())
		if err != nil {
			return err
		}
		p.tries[attempt] = &agreement{secrets: secrets, checked: map[protocol.PeerID]bool{}}
		return nil
	case len(data) > 0 && (data[0] == holding || data[0] == masking):
		outcome, err := Agreed(data)
		if err != nil {
			return err
		}
		outcome.Publish = p.study.Published()
		p.seeded, p.seededIn = &outcome, attempt
		return nil
	}
	return fmt.Errorf("attempt %d: %w", attempt, errDamagedSecrets)
}

var errDamagedSecrets = errors.New("the secrets file is damaged")

// ErrNotAgreed reports secrets of an agreement that is not complete.
var ErrNotAgreed error = fail.NotAgreed

// Agreed returns the outcome of the seed agreement from what SaveSecrets stored after the
// certificate, for work on the own sketch outside the machine. Before that it returns ErrNotAgreed.
func Agreed(secrets []byte) (agree.Outcome, error) {
	switch {
	case len(secrets) > 1 && secrets[0] == agreeing:
		return agree.Outcome{}, ErrNotAgreed
	case len(secrets) > 1+3*32 && secrets[0] == masking:
		pairs, err := agree.ParsePairs(secrets[1+3*32:])
		if err != nil {
			return agree.Outcome{}, errDamagedSecrets
		}
		outcome, err := Agreed(append([]byte{holding}, secrets[1:1+3*32]...))
		outcome.Pairs = pairs
		return outcome, err
	case len(secrets) == 1+3*32 && secrets[0] == holding:
		return agree.Outcome{Seed: seed.FromBytes([32]byte(secrets[1:33])), T1: [32]byte(secrets[33:65]), T2: [32]byte(secrets[65:97])}, nil
	}
	return agree.Outcome{}, errDamagedSecrets
}
