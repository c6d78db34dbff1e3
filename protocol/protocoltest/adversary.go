package protocoltest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// Role is a way for a party to misbehave. It contains an honest machine; the role decides what
// happens to each message that the machine wants to post.
type Role struct {
	Name  string
	Story string // what the adversary wants, and why it must not get it

	// Blame is what the board must say of the adversary: "proved"; "claimed"; "perhaps", if proof
	// depends on when its message arrives; or "" if its misdeed removes nobody because it is
	// refused or does no harm.
	Blame string

	Late bool // it misbehaves as a late party

	act func(*Party, protocol.Verified) []protocol.Verified
	// watch returns what the party posts by itself once its machine has given up: nothing, or one
	// message, at each call. Default: nothing.
	watch func(*Party) []protocol.Verified

	withholds bool // it withholds the chunks of its release
	Rounds    bool // only in studies of two rounds
	Inline    bool // only in studies whose shares contain their texts
	Apart     bool // only in studies whose texts travel apart

	did   bool
	tries int
	out   map[protocol.Digest][]protocol.Verified // replacements of messages, which do not change
}

// Did reports whether the adversary has misbehaved.
func (r *Role) Did() bool { return r.did }

// send returns what the party posts instead of its own message.
func (r *Role) send(p *Party, e protocol.Verified) []protocol.Verified {
	if out, again := r.out[e.ID()]; again {
		return out
	}
	for _, made := range r.out {
		for _, m := range made {
			if m.ID() == e.ID() {
				return as(e) // it has adopted this one
			}
		}
	}
	out := r.act(p, e)
	if r.out == nil {
		r.out = map[protocol.Digest][]protocol.Verified{}
	}
	r.out[e.ID()] = out
	if len(out) != 1 || out[0].ID() != e.ID() || !sameBeside(out[0], e) {
		r.did = true
		p.sim.note("%s (%s) sends %s in place of %s", p.Name, r.Name, p.sim.names(out), title(e))
	}
	return out
}

// sameBeside compares the texts, which ids do not cover.
func sameBeside(a, b protocol.Verified) bool {
	of, _ := a.Beside()
	other, _ := b.Beside()
	return slices.EqualFunc(of, other, bytes.Equal)
}

// silence means that the adversary sends nothing.
var silence []protocol.Verified

func as(e protocol.Verified) []protocol.Verified { return []protocol.Verified{e} }

// again signs another message to replace e.
func (p *Party) again(e protocol.Verified, payload []byte) protocol.Verified {
	return Sealed(p.Signer.Seal(e.Study(), e.Kind(), e.Attempt(), payload))
}

// instead returns a role that changes its messages of one kind and is otherwise honest.
func instead(kind protocol.Kind, change func(*Party, protocol.Verified) []protocol.Verified) func(*Party, protocol.Verified) []protocol.Verified {
	return func(p *Party, e protocol.Verified) []protocol.Verified {
		if e.Kind() != kind {
			return as(e)
		}
		return change(p, e)
	}
}

// Roles returns all adversaries among the parties, new at each call. The source draw chooses what a
// role leaves open, such as its victim.
func Roles(draw *rand.Rand) []*Role {
	return slices.Concat(agreementRoles(draw), complaintRoles(), lateRoles(), lossRoles(), apartRoles())
}

// agreementRoles misbehave in the messages of the agreement themselves.
func agreementRoles(draw *rand.Rand) []*Role {
	return []*Role{
		{Name: "silent", Blame: "claimed", Story: `Stops posting from some round of the agreement on, without a word. Nobody can tell
it from a party whose messages are lost, so nothing is proved; the others go on without it.`,
			act: silentFrom([]protocol.Kind{protocol.KindCommit, protocol.KindShare, protocol.KindConfirm}[draw.IntN(3)])},
		{Name: "two commits", Blame: "proved", Story: `Signs two commits of one attempt, hoping that the others come to hold different
transcripts. Two signed messages for one slot convict it before anybody.`,
			act: instead(protocol.KindCommit, func(p *Party, e protocol.Verified) []protocol.Verified {
				return []protocol.Verified{e, p.again(e, wire.EncodeCommit(freshCommit(p, e)))}
			})},
		{Name: "two shares", Blame: "proved", Story: `Posts its share and, having seen the others', another one. T2 would change; the seed
would not, as T2 does not enter it. Two signed shares convict it.`,
			act: instead(protocol.KindShare, func(p *Party, e protocol.Verified) []protocol.Verified {
				if !p.canOpen(e.Attempt()) {
					return as(e)
				}
				return []protocol.Verified{e, p.shared(p.reseal(e), e.Attempt())}
			})},
		{Name: "last sharer", Story: `Waits until it is the last to share: then it knows every contribution. It seals its
share twenty times over, computes the seed that each would lead to, and posts the one it likes best. All of them
lead to the same seed: it has moved no row key by one bit, and broken no rule.`,
			act: instead(protocol.KindShare, chooseShare)},
		{Name: "wrong commitment", Blame: "proved", Story: `Commits to something other than what it will share, to choose its contribution after
having seen the others'. Its share does not match, and whoever opens it shows that.`,
			act: instead(protocol.KindCommit, func(p *Party, e protocol.Verified) []protocol.Verified {
				c := decode(wire.DecodeCommit(e.Payload()))
				c.Commitment[0] ^= 1
				return as(p.again(e, wire.EncodeCommit(c)))
			}),
			watch: shareAnyhow},
		{Name: "low-order key", Blame: "proved", Story: `Commits to an ephemeral key whose X25519 half has low order: it parses, but nobody can
seal to it. Everybody tries to at once, and the commit itself convicts its sender.`,
			act: instead(protocol.KindCommit, func(p *Party, e protocol.Verified) []protocol.Verified {
				c := decode(wire.DecodeCommit(e.Payload()))
				clear(c.EphemeralKey[len(c.EphemeralKey)-32:])
				return as(p.again(e, wire.EncodeCommit(c)))
			})},
		{Name: "copied key", Blame: "claimed", Story: `Posts another member's ephemeral key as its own. It can open nothing with it, but the
other could. The board refuses the second one; which came second is the aggregator's word, so nothing is proved.`,
			act: instead(protocol.KindCommit, copyKey)},
		{Name: "junk", Blame: "proved", Story: `Signs bytes that are no message at all. No board takes them, and they are its word for the round.`,
			act: func(p *Party, e protocol.Verified) []protocol.Verified {
				if !e.Kind().Agreement() {
					return as(e)
				}
				return as(p.again(e, []byte("junk")))
			}},
		{Name: "bad share", Blame: "proved", Story: `Seals rubbish to one victim and good shares to all others, to make the victim look like
the one that stalls. The victim opens its side of the attempt, and everybody sees that the share does not open.`,
			act: instead(protocol.KindShare, func(p *Party, e protocol.Verified) []protocol.Verified {
				s := p.sharedIn(e)
				s.Sealed[draw.IntN(len(s.Sealed))][agree.SealedSize-1] ^= 1
				return as(p.shared(s, e.Attempt()))
			})},
		{Name: "bad shares", Blame: "proved", Story: `Seals rubbish to everybody: the first complaint that arrives is enough.`,
			act: instead(protocol.KindShare, func(p *Party, e protocol.Verified) []protocol.Verified {
				s := p.sharedIn(e)
				for i := range s.Sealed {
					s.Sealed[i][agree.SealedSize-1] ^= 1
				}
				return as(p.shared(s, e.Attempt()))
			})},
		{Name: "few shares", Inline: true, Blame: "proved", Story: `Leaves one member out of its share envelope. Its form alone is impossible.`,
			act: instead(protocol.KindShare, func(p *Party, e protocol.Verified) []protocol.Verified {
				s := decode(wire.DecodeShare(e.Payload()))
				s.Sealed = s.Sealed[1:]
				return as(p.again(e, wire.EncodeShare(s)))
			})},
		{Name: "foreign share", Blame: "claimed", Story: `Shares under a transcript that is not the board's. An honest member that was shown other
commits would do the same, so it is the aggregator's word against its own, and nothing is proved.`,
			act: instead(protocol.KindShare, func(p *Party, e protocol.Verified) []protocol.Verified {
				s := p.sharedIn(e)
				s.T1[0] ^= 1
				return as(p.shared(s, e.Attempt()))
			})},
		{Name: "wrong confirmation", Blame: "proved", Story: `Confirms under a seed that is not the one agreed on. Only members can see it; the first
of them opens its side of the attempt, so that everybody can derive the dead seed and check.`,
			act: instead(protocol.KindConfirm, func(p *Party, e protocol.Verified) []protocol.Verified {
				c := decode(wire.DecodeConfirm(e.Payload()))
				c.Tag[0] ^= 1
				return as(p.again(e, wire.EncodeConfirm(c)))
			})},
		{Name: "wrong public key", Blame: "proved", Story: `Confirms other public row keys than the seed's, or some where none are to be public: it
would have the aggregator project by rows of its own choice, under which the others' releases look like anything. Where
the study publishes keys, members see it and open the attempt; where it does not, the form alone is impossible.`,
			act: instead(protocol.KindConfirm, func(p *Party, e protocol.Verified) []protocol.Verified {
				c := decode(wire.DecodeConfirm(e.Payload()))
				if len(c.Published) == 0 {
					c.Published = make([][32]byte, 1)
				}
				c.Published[0][0] ^= 1
				return as(p.again(e, wire.EncodeConfirm(c)))
			})},
		{Name: "foreign confirmation", Blame: "claimed", Story: `Confirms a board that nobody else has seen, as if the aggregator had shown it another.`,
			act: instead(protocol.KindConfirm, func(p *Party, e protocol.Verified) []protocol.Verified {
				c := decode(wire.DecodeConfirm(e.Payload()))
				c.Chain[0] ^= 1
				return as(p.again(e, wire.EncodeConfirm(c)))
			})},
		{Name: "replay", Blame: "", Story: `Posts, beside each message of its own, what others have posted: as it is, under its own
name, under another attempt, another kind and another study. Signatures cover all of these; nothing of it is taken,
and what is no message of its own convicts nobody.`,
			act: replay},
	}
}

// complaintRoles abuse the right to complain.
func complaintRoles() []*Role {
	bogus := func(change func(*agree.Opening)) func(*Party, protocol.Verified) []protocol.Verified {
		return instead(protocol.KindConfirm, func(p *Party, e protocol.Verified) []protocol.Verified {
			if !p.canOpen(e.Attempt()) {
				return as(e)
			}
			o := p.opening(e.Attempt())
			change(&o)
			return as(Sealed(p.Signer.Seal(e.Study(), protocol.KindComplaint, e.Attempt(), wire.EncodeComplaint(o))))
		})
	}
	return []*Role{
		{Name: "bogus complaint", Blame: "proved", Story: `Complains although nothing is wrong, to have an honest member struck. Its opening shows
that every share opens: the complaint convicts the complainant.`,
			act: bogus(func(*agree.Opening) {})},
		{Name: "false opening", Blame: "proved", Story: `Complains with a key that is not the one it committed to, under which of course nothing opens.`,
			act: bogus(func(o *agree.Opening) { o.Contribution[0] ^= 1 })},
		{Name: "complaint after confirming", Blame: "perhaps", Story: `Confirms, and then complains. Who confirmed has opened every share: the complaint
can only be its own fault. Where the certificate is there already, it is refused and changes nothing.`,
			act: instead(protocol.KindConfirm, func(p *Party, e protocol.Verified) []protocol.Verified {
				if !p.canOpen(e.Attempt()) {
					return as(e)
				}
				return []protocol.Verified{e, Sealed(p.Signer.Seal(e.Study(), protocol.KindComplaint, e.Attempt(), wire.EncodeComplaint(p.opening(e.Attempt()))))}
			})},
	}
}

// lateRoles misbehave once there is a certificate.
func lateRoles() []*Role {
	header := func(change func(*protocol.Release)) func(*Party, protocol.Verified) []protocol.Verified {
		return instead(protocol.KindRelease, func(p *Party, e protocol.Verified) []protocol.Verified {
			r := decode(wire.DecodeRelease(e.Payload()))
			change(&r)
			return as(p.again(e, wire.EncodeRelease(r)))
		})
	}
	return []*Role{
		{Name: "wrong-seed newcomer", Late: true, Story: `Is welcomed, and proves another seed than the one it was handed. The aggregator cannot
tell and lets it in; every member that holds the seed sees it and names it. It costs its own numbers, as made-up data
would, and stops nobody.`,
			act: instead(protocol.KindJoined, func(p *Party, e protocol.Verified) []protocol.Verified {
				c := decode(wire.DecodeConfirm(e.Payload()))
				c.Tag[0] ^= 1
				return as(p.again(e, wire.EncodeConfirm(c)))
			})},
		{Name: "late fault", Story: `Contradicts its own commit once all have confirmed, to undo a seed it does not like. The
certificate stands: whoever holds it is seeded for good.`,
			act: instead(protocol.KindRelease, func(p *Party, e protocol.Verified) []protocol.Verified {
				second := Sealed(p.Signer.Seal(e.Study(), protocol.KindCommit, e.Attempt(), wire.EncodeCommit(freshCommit(p, e))))
				return []protocol.Verified{second, e}
			})},
		{Name: "two releases", Story: `Posts two headers, to let the aggregator choose or compare. The second is refused: one release, ever.`,
			act: instead(protocol.KindRelease, func(p *Party, e protocol.Verified) []protocol.Verified {
				r := decode(wire.DecodeRelease(e.Payload()))
				r.Sketches[0].Chunks[0][0] ^= 1
				return []protocol.Verified{e, p.again(e, wire.EncodeRelease(r))}
			})},
		{Name: "stale T2", Story: `Releases under another agreement than the one that was certified; the sketches would not fit the others'.`,
			act: header(func(r *protocol.Release) { r.T2[0] ^= 1 })},
		{Name: "wrong shape", Story: `Announces a sketch of another shape than the study fixes, which would not add up with the others.`,
			act: header(func(r *protocol.Release) { r.Sketches[0].Rows++ })},
		{Name: "false public key", Story: `Shows another public row key with its release than it has confirmed. Everybody holds it
against the hash; such a release is refused.`,
			act: header(func(r *protocol.Release) {
				if len(r.Published) == 0 {
					r.Published = make([][32]byte, 1)
				}
				r.Published[0][0] ^= 1
			})},
		{Name: "no release", Story: `Takes part in everything and then ships nothing: it costs its own rows.`,
			act: silentFrom(protocol.KindRelease)},
		{Name: "no first round", Rounds: true, Story: `Agrees on the seed and then says nothing, where there are two rounds: the others go on without it.`,
			act: silentFrom(protocol.KindFirst)},
		{Name: "two first rounds", Rounds: true, Story: `Posts its first round twice, with other numbers, to see which interim it likes better. The second is refused.`,
			act: instead(protocol.KindFirst, func(p *Party, e protocol.Verified) []protocol.Verified {
				return []protocol.Verified{e, p.again(e, wire.EncodeFirst(redrawn(decode(wire.DecodeFirst(e.Payload())))))}
			})},
		{Name: "damaged first round", Rounds: true, Story: `Posts a first round of another shape than the study fixes, which nobody can add up.`,
			act: instead(protocol.KindFirst, func(p *Party, e protocol.Verified) []protocol.Verified {
				f := decode(wire.DecodeFirst(e.Payload()))
				f.Sketches[0].Cols, f.Sketches[0].Width, f.Data[0] = 1, 1, f.Data[0][:1]
				f.Sketches[0].Chunks = []protocol.Digest{sha256.Sum256(f.Data[0])}
				return as(p.again(e, wire.EncodeFirst(f)))
			})},
		{Name: "another first round", Rounds: true, Story: `Releases, in the second round, another first one than it has posted, after it has seen
what came of that. Everybody holds it against what is on the board; such a release is refused.`,
			act: func(p *Party, e protocol.Verified) []protocol.Verified {
				if e.Kind() != protocol.KindRelease || !p.sim.Study.TwoRounds() {
					return as(e)
				}
				r := decode(wire.DecodeRelease(e.Payload()))
				r.Sketches[0].Chunks[0][0] ^= 1
				return as(p.again(e, wire.EncodeRelease(r)))
			}},
	}
}

// redrawn returns a first round of the same shape with other numbers.
func redrawn(f protocol.First) protocol.First {
	f.Data[0][0] ^= 1
	f.Sketches[0].Chunks = []protocol.Digest{sha256.Sum256(f.Data[0])}
	return f
}

// shareAnyhow shares something that was not committed to, once all commits of the first attempt are
// there.
func shareAnyhow(p *Party) []protocol.Verified {
	a := attemptOf(p.sim.Aggregator.Stored, 1)
	_, shared := a.shares[p.Signer.ID()]
	if shared || len(a.members) == 0 || len(a.commits) < len(a.members) || !p.canOpen(1) || p.Role.tries > 20 {
		return nil
	}
	p.Role.tries++ // messages may be lost
	secrets, group := p.secrets(1), a.group(p.sim.Study)
	a.commits[group.Index(p.Signer.ID())].Message = secrets.Commit() // as if this commit were on the board
	return as(p.shared(decode(secrets.Share(group, a.commits)), 1))
}

// silentFrom sends nothing from the first message of a kind on.
func silentFrom(kind protocol.Kind) func(*Party, protocol.Verified) []protocol.Verified {
	silent := false
	return func(p *Party, e protocol.Verified) []protocol.Verified {
		if silent = silent || e.Kind() == kind; silent {
			return silence
		}
		return as(e)
	}
}

// freshCommit returns a commit of other secrets.
func freshCommit(p *Party, e protocol.Verified) agree.Commit {
	s, err := agree.Begin(e.Study(), e.Attempt(), p.Signer.ID(), p.entropy)
	if err != nil {
		panic(fmt.Sprintf("protocoltest: %v", err)) // the entropy of simulations never ends
	}
	return s.Commit()
}

// copyKey takes the ephemeral key of a member that has committed before; the first to commit has
// nobody to copy from.
func copyKey(p *Party, e protocol.Verified) []protocol.Verified {
	for _, other := range p.sim.Aggregator.Stored {
		if other.Kind() == protocol.KindCommit && other.Attempt() == e.Attempt() {
			c := decode(wire.DecodeCommit(e.Payload()))
			c.EphemeralKey = decode(wire.DecodeCommit(other.Payload())).EphemeralKey
			return as(p.again(e, wire.EncodeCommit(c)))
		}
	}
	return as(e)
}

// chooseShare seals many shares, and posts the one with the least id. The choice is arbitrary,
// because all of them give the same seed.
func chooseShare(p *Party, e protocol.Verified) []protocol.Verified {
	a := attemptOf(p.sim.Aggregator.Stored, e.Attempt())
	if len(a.shares) < len(a.members)-1 || !p.canOpen(e.Attempt()) {
		return as(e) // it is not the last, and knows too little
	}
	var best protocol.Verified
	seeds := map[[32]byte]bool{}
	for range 20 {
		candidate := p.shared(p.reseal(e), e.Attempt())
		seed, err := p.wouldAgree(a, candidate)
		if err != nil { // another member's share is bad, so there will be no agreement
			return as(e)
		}
		seeds[seed] = true
		if best.ID() == (protocol.Digest{}) || candidate.ID().String() < best.ID().String() {
			best = candidate
		}
	}
	if len(seeds) != 1 {
		p.sim.breach("the last sharer can choose among %d seeds", len(seeds))
	}
	p.adopt(best)
	return as(best)
}

// adopt replaces an own message by another, so the machine continues from it.
func (p *Party) adopt(e protocol.Verified) {
	for i, own := range p.Store.Own {
		if own.Kind() == e.Kind() && own.Attempt() == e.Attempt() {
			p.Store.Own[i] = e
		}
	}
	p.machine = nil
}

// replay sends what others have posted, in several forms, before its own message.
func replay(p *Party, e protocol.Verified) []protocol.Verified {
	var out []protocol.Verified
	for _, other := range p.sim.Aggregator.Stored {
		if other.Sender() == p.Signer.ID() || other.Kind().FromAggregator() || !other.Kind().Agreement() {
			continue
		}
		out = append(out, other)
		for _, change := range []func(*protocol.Envelope){
			func(e *protocol.Envelope) { e.Sender = p.Signer.ID() },
			func(e *protocol.Envelope) { e.Attempt++ },
			func(e *protocol.Envelope) { e.Kind = protocol.KindAbandon },
			func(e *protocol.Envelope) { e.Study[0] ^= 1 },
		} {
			plain := other.Envelope()
			change(&plain)
			if _, err := protocol.Verify(plain); err == nil {
				p.sim.breach("%s passes as %s", other, &plain)
			}
		}
		// Signed anew, it belongs to another study, and is therefore refused.
		out = append(out, Sealed(p.Signer.Seal(protocol.StudyID{1}, other.Kind(), other.Attempt(), other.Payload())))
		break
	}
	return append(out, e)
}

func decode[M any](m M, err error) M {
	if err != nil {
		panic(fmt.Sprintf("protocoltest: a machine wrote what nobody reads: %v", err))
	}
	return m
}

// secrets returns what the party's store holds of an attempt.
func (p *Party) secrets(attempt uint32) *agree.Secrets {
	return decode(agree.ParseSecrets(p.Store.Secrets[attempt][1:], p.sim.Study.ID, attempt, p.Signer.ID()))
}

// canOpen reports whether the store still holds the secrets of the agreement: later there is only
// the seed, or nothing.
func (p *Party) canOpen(attempt uint32) bool {
	data := p.Store.Secrets[attempt]
	return len(data) > 1+3*32
}

func (p *Party) opening(attempt uint32) agree.Opening {
	a := attemptOf(p.sim.Aggregator.Stored, attempt)
	group := a.group(p.sim.Study)
	return decode(p.secrets(attempt).Complaint(group, a.commits, p.readShares(a, group)))
}

// reseal seals the own contribution again.
func (p *Party) reseal(e protocol.Verified) agree.Share {
	a := attemptOf(p.sim.Aggregator.Stored, e.Attempt())
	return decode(p.secrets(e.Attempt()).Share(a.group(p.sim.Study), a.commits))
}

// wouldAgree returns the seed that an attempt gives with this last share.
func (p *Party) wouldAgree(a transcript, last protocol.Verified) (seed [32]byte, err error) {
	group := a.group(p.sim.Study)
	shares := p.readShares(a, group)
	shares[group.Index(p.Signer.ID())] = agree.Posted[agree.Share]{ID: last.ID(), Message: decode(wire.DecodeShare(last.Payload()))}
	outcome, err := p.secrets(a.number).Open(group, a.commits, shares)
	if err != nil {
		return seed, err
	}
	return outcome.Seed.Bytes(), nil
}

// readShares returns the shares of an attempt as the party reads them; missing ones are empty.
func (p *Party) readShares(a transcript, group agree.Group) []agree.Posted[agree.Share] {
	shares := make([]agree.Posted[agree.Share], len(group.Members))
	for id, e := range a.shares {
		s := decode(wire.DecodeShare(e.Payload()))
		if texts, path := p.sim.Aggregator.sealedTo(p, e).Beside(); len(texts) == 1 {
			s.Received = agree.Text{Sealed: texts[0], Path: path}
		}
		shares[group.Index(id)] = agree.Posted[agree.Share]{ID: e.ID(), Message: s}
	}
	return shares
}

// transcript is an attempt as an adversary reads it from a board.
type transcript struct {
	number  uint32
	roster  protocol.Digest
	members [][32]byte
	commits []agree.Posted[agree.Commit] // in the order of members, once all are there
	shares  map[protocol.PeerID]protocol.Verified
}

func attemptOf(board []protocol.Verified, attempt uint32) transcript {
	t := transcript{number: attempt, shares: map[protocol.PeerID]protocol.Verified{}}
	senders := map[protocol.Digest]protocol.PeerID{}
	commits := map[protocol.PeerID]agree.Posted[agree.Commit]{}
	for _, e := range board {
		switch {
		case e.Kind() == protocol.KindApprove:
			senders[e.ID()] = e.Sender()
		case e.Attempt() != attempt:
		case e.Kind() == protocol.KindRoster:
			t.roster = e.ID()
			for _, id := range decode(wire.DecodeRoster(e.Payload())).Approvals {
				t.members = append(t.members, senders[id])
			}
		case e.Kind() == protocol.KindCommit:
			commits[e.Sender()] = agree.Posted[agree.Commit]{ID: e.ID(), Message: decode(wire.DecodeCommit(e.Payload()))}
		case e.Kind() == protocol.KindShare:
			t.shares[e.Sender()] = e
		}
	}
	for _, m := range t.members {
		if c, ok := commits[m]; ok {
			t.commits = append(t.commits, c)
		}
	}
	return t
}

func (t transcript) group(s *study.Study) agree.Group {
	return agree.Group{Study: s.ID, Attempt: t.number, Roster: t.roster, Members: t.members, DetachedTexts: s.Apart()}
}

// honest reports whether a party follows the protocol.
func (p *Party) honest() bool { return p.Role == nil }
