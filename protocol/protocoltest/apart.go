package protocoltest

import (
	"bytes"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// apartRoles misbehave in the texts beside shares.
func apartRoles() []*Role {
	beside := func(change func([][]byte) [][]byte) func(*Party, protocol.Verified) []protocol.Verified {
		return instead(protocol.KindShare, func(_ *Party, e protocol.Verified) []protocol.Verified {
			texts, _ := e.Beside()
			return as(e.With(change(slices.Clone(texts)), nil))
		})
	}
	complain := func(change func(*Party, uint32, *agree.Opening)) func(*Party, protocol.Verified) []protocol.Verified {
		return instead(protocol.KindConfirm, func(p *Party, e protocol.Verified) []protocol.Verified {
			if !p.canOpen(e.Attempt()) {
				return as(e)
			}
			o := p.opening(e.Attempt())
			if len(o.Wrong) > 0 {
				return as(e) // it has something to complain of
			}
			change(p, e.Attempt(), &o)
			return as(Sealed(p.Signer.Seal(e.Study(), protocol.KindComplaint, e.Attempt(), wire.EncodeComplaint(o))))
		})
	}
	show := func(p *Party, attempt uint32, change func([]byte)) []agree.Wrong {
		a := attemptOf(p.sim.Aggregator.Stored, attempt)
		group := a.group(p.sim.Study)
		for i, s := range p.readShares(a, group) {
			if group.Members[i] != p.Signer.ID() {
				own := s.Message.Received
				own.Sealed = bytes.Clone(own.Sealed)
				change(own.Sealed)
				return []agree.Wrong{{From: i, Text: own}}
			}
		}
		return nil
	}
	return []*Role{
		{Name: "few texts", Apart: true, Blame: "claimed", Story: `Leaves one member's text out of those beside its share, as nothing that it signs says how many
there are. The aggregator does not take the share without all of them: it is as if nothing had come.`,
			act: beside(func(texts [][]byte) [][]byte { return texts[1:] })},
		{Name: "other texts", Apart: true, Blame: "claimed", Story: `Sends other texts beside its share than those under its root, so that a member could not
open its own and had no proof of it. The aggregator holds all of them against the root, and does not take the share.`,
			act: beside(func(texts [][]byte) [][]byte {
				texts[0] = bytes.Clone(texts[0])
				texts[0][agree.SealedSize-1] ^= 1
				return texts
			})},
		{Name: "false text", Apart: true, Blame: "proved", Story: `Complains of a text that nobody sealed to it, to have its alleged sender struck. The path does
not lead from there to the root that the sender signed, and the complaint convicts the complainant.`,
			act: complain(func(p *Party, attempt uint32, o *agree.Opening) {
				o.Opened, o.Wrong = nil, show(p, attempt, func(text []byte) { text[agree.SealedSize-1] ^= 1 })
			})},
		{Name: "good text", Apart: true, Blame: "proved", Story: `Complains of a text in which nothing is wrong. Everybody opens it with the key that it gives
away, and finds what its sender committed to.`,
			act: complain(func(p *Party, attempt uint32, o *agree.Opening) {
				o.Opened, o.Wrong = nil, show(p, attempt, func([]byte) {})
			})},
		{Name: "false contributions", Apart: true, Blame: "proved", Story: `Complains, and shows other contributions than the members have committed to, under which their
proofs of the seed look wrong.`,
			act: complain(func(_ *Party, _ uint32, o *agree.Opening) { o.Opened[0][0] ^= 1 })},
		{Name: "no contributions", Apart: true, Blame: "proved", Story: `Complains without showing what it has opened, so that nobody can tell whether it is right.`,
			act: complain(func(_ *Party, _ uint32, o *agree.Opening) { o.Opened = nil })},
	}
}

// sharedIn returns an own share with copies of all its texts, to be changed.
func (p *Party) sharedIn(e protocol.Verified) agree.Share {
	s := decode(wire.DecodeShare(e.Payload()))
	if p.sim.Study.Apart() {
		texts, _ := e.Beside()
		for _, text := range texts {
			s.Sealed = append(s.Sealed, bytes.Clone(text))
		}
	}
	return s
}

// shared signs a share, in the form of the study.
func (p *Party) shared(s agree.Share, attempt uint32) protocol.Verified {
	var beside [][]byte
	if p.sim.Study.Apart() {
		own := attemptOf(p.sim.Aggregator.Stored, attempt).group(p.sim.Study).Index(p.Signer.ID())
		s.Root, beside = agree.NewTree(own, s.Sealed).Root(), s.Sealed
	}
	return Sealed(p.Signer.Seal(p.sim.Study.ID, protocol.KindShare, attempt, wire.EncodeShare(s))).With(beside, nil)
}
