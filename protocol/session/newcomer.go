package session

import (
	"errors"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// isLate reports whether the party can only join as a newcomer: the study takes late parties, and
// the first roster lacks it.
func (p *Party) isLate() bool {
	a := p.view.at(1)
	return p.study.LateUntil != 0 && a != nil && !a.member(p.signer.ID())
}

// lateSteps asks for the seed, and accepts the first welcome whose seed verifies every confirmation
// of the members.
func (p *Party) lateSteps(out *Effects) error {
	if err := p.view.cannotJoin(p.signer.ID()); err != nil {
		return errors.New("this party cannot join: " + err.Error())
	}
	a := p.view.certified()
	if a == nil {
		return nil
	}
	if !p.signed(protocol.KindJoin, a.number) {
		return p.askToJoin(a, out)
	}
	if err := p.haveSecrets(a); err != nil {
		return err
	}
	n := p.view.late[p.signer.ID()]
	if n == nil {
		return nil
	}
	for _, w := range n.welcomes {
		outcome, ok := p.acceptable(a, n, w)
		if !ok {
			continue // another member may welcome this party
		}
		p.seeded, p.seededIn, p.tries = outcome, a.number, map[uint32]*agreement{}
		secrets, err := p.seededSecrets()
		if err != nil {
			return err
		}
		out.Persist = append(out.Persist, SaveSecrets{a.number, seed.Hide(secrets)})
		return p.toJoined(a, out)
	}
	return nil
}

// toJoined: joining → seeded: the newcomer proves to all that it holds the seed.
func (p *Party) toJoined(a *attempt, out *Effects) error {
	if p.seeded == nil {
		return errors.New("this node has lost the seed before using it, and cannot continue the study")
	}
	c, err := p.seeded.Confirm(p.signer.ID())
	if err != nil {
		return err
	}
	p.sign(protocol.KindJoined, a.number, wire.EncodeConfirm(protocol.Confirm{Confirm: c, Count: p.view.count(), Chain: p.view.chain()}), out)
	return p.seededSteps(out)
}

func (p *Party) askToJoin(a *attempt, out *Effects) error {
	secrets, err := agree.Begin(p.study.ID, a.number, p.signer.ID(), p.entropy)
	if err != nil {
		return err
	}
	data, err := secrets.MarshalBinary()
	if err != nil {
		return err
	}
	p.tries[a.number] = &agreement{secrets: secrets, checked: map[protocol.PeerID]bool{}}
	out.Persist = append(out.Persist, SaveSecrets{a.number, seed.Hide(append([]byte{agreeing}, data...))})
	join := protocol.Join{Meaning: p.study.Meaning, EphemeralKey: secrets.Commit().EphemeralKey}
	p.sign(protocol.KindJoin, a.number, wire.EncodeJoin(join), out)
	return nil
}

// acceptable opens a welcome and checks its seed against all confirmations.
func (p *Party) acceptable(a *attempt, n *newcomer, w invitation) (*agree.Outcome, bool) {
	t1, t2 := a.transcriptOfCommits(), a.transcript()
	root, err := p.tries[a.number].secrets.Accept(agree.Invitation{T2: t2, Join: n.id, Welcomer: w.from, Newcomer: p.signer.ID()}, w.sealed)
	if err != nil {
		return nil, false
	}
	outcome := &agree.Outcome{Seed: root, T1: t1, T2: t2, Publish: p.study.Published()}
	for _, m := range a.members {
		if c, _ := a.confirmed(m.ID); outcome.Check(m.ID, c.Confirm) != nil {
			return nil, false
		}
	}
	return outcome, true
}

// welcomeLate seals the seed to every newcomer that this party's site admits. Every member answers,
// so a silent or lying one keeps nobody out.
func (p *Party) welcomeLate(a *attempt, out *Effects) error {
	if p.seeded == nil || !a.member(p.signer.ID()) || p.now >= p.study.LateUntil {
		return nil
	}
	for _, party := range p.study.Parties {
		n := p.view.late[party.ID]
		if n == nil || n.in || !p.welcomes(party.ID) || p.welcomed(n) {
			continue
		}
		sealed, err := agree.Invitation{T2: p.seeded.T2, Join: n.id, Welcomer: p.signer.ID(), Newcomer: party.ID}.Seal(p.seeded.Seed, n.join.EphemeralKey)
		if err != nil {
			return err
		}
		p.sign(protocol.KindWelcome, a.number, wire.EncodeWelcome(protocol.Welcome{Join: n.id, Sealed: sealed}), out)
	}
	return nil
}

// checkNewcomers checks newcomers' proofs against the seed, while this party holds it. A newcomer
// that proves another seed releases what fits nobody's sketches. This is shown but stops nothing: a
// party could as well make up its data, and only holders of the seed could tell a lying newcomer
// from a member that lies about it.
func (p *Party) checkNewcomers(a *attempt) {
	if p.seeded == nil {
		return
	}
	for _, party := range p.study.Parties {
		n := p.view.late[party.ID]
		if n == nil || !n.in || p.examined[party.ID] || party.ID == p.signer.ID() {
			continue
		}
		p.examined[party.ID] = true
		if err := p.seeded.Check(party.ID, n.proof); err != nil {
			p.caught = append(p.caught, Culprit{Node: party.ID, Standing: Seen, Kind: protocol.KindJoined, Attempt: a.number, Err: p.view.unproved(party.ID, protocol.KindJoined, err)})
		}
	}
}

// welcomed reports whether this party has answered a newcomer's join.
func (p *Party) welcomed(n *newcomer) bool {
	for _, e := range p.own {
		if e.Kind() != protocol.KindWelcome {
			continue
		}
		if w, err := wire.DecodeWelcome(e.Payload()); err == nil && w.Join == n.id {
			return true
		}
	}
	return false
}

// unwelcomed lists the newcomers that nobody has welcomed and that this party's site does not
// admit.
func (p *Party) unwelcomed() []protocol.PeerID {
	var out []protocol.PeerID
	for _, party := range p.study.Parties {
		if n := p.view.late[party.ID]; n != nil && !n.in && len(n.welcomes) == 0 && !p.welcomes(party.ID) {
			out = append(out, party.ID)
		}
	}
	return out
}
