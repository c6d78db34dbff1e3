package session

import (
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// posted holds messages of one kind by the members of an attempt. Readers decode them;
// protocol.Read does so only once.
type posted struct {
	places places              // places of the attempt
	at     []protocol.Verified // by place; nil before the first message
	count  int
	most   int // number of members
}

func (p *posted) put(e protocol.Verified) {
	if p.at == nil {
		p.at = make([]protocol.Verified, p.most)
	}
	at := &p.at[p.places.of(e.Sender())]
	if at.Kind() == "" {
		p.count++
	}
	*at = e
}

// of returns what a member has posted.
func (p *posted) of(member protocol.PeerID) (protocol.Verified, bool) {
	if p.at == nil {
		return protocol.Verified{}, false
	}
	i := p.places.of(member)
	if i < 0 || p.at[i].Kind() == "" {
		return protocol.Verified{}, false
	}
	return p.at[i], true
}

func (p *posted) has(member protocol.PeerID) bool {
	_, ok := p.of(member)
	return ok
}

// inOrder lists the messages in roster order.
func (p *posted) inOrder() []protocol.Verified {
	out := make([]protocol.Verified, 0, p.count)
	for _, e := range p.at {
		if e.Kind() != "" {
			out = append(out, e)
		}
	}
	return out
}

// commitOf decodes a commit and checks that others can seal to it.
func commitOf(e protocol.Verified) (agree.Commit, error) {
	return protocol.Read(e, func(payload []byte) (agree.Commit, error) {
		c, err := wire.DecodeCommit(payload)
		if err == nil {
			err = c.Check()
		}
		return c, err
	})
}

func shareOf(e protocol.Verified) (agree.Share, error) { return protocol.Read(e, wire.DecodeShare) }

func confirmOf(e protocol.Verified) (protocol.Confirm, error) {
	return protocol.Read(e, wire.DecodeConfirm)
}

func firstOf(e protocol.Verified) (protocol.First, error) { return protocol.Read(e, wire.DecodeFirst) }

func releaseOf(e protocol.Verified) (protocol.Release, error) {
	return protocol.Read(e, wire.DecodeRelease)
}

// commitsInOrder and the functions below cannot fail to decode: the board has admitted these
// messages.
func (a *attempt) commitsInOrder() []agree.Posted[agree.Commit] {
	out := make([]agree.Posted[agree.Commit], 0, a.commits.count)
	for _, e := range a.commits.inOrder() {
		c, _ := commitOf(e)
		out = append(out, agree.Posted[agree.Commit]{ID: e.ID(), Message: c})
	}
	return out
}

func (a *attempt) sharesInOrder() []agree.Posted[agree.Share] {
	out := make([]agree.Posted[agree.Share], 0, a.shares.count)
	for _, e := range a.shares.inOrder() {
		s, _ := shareOf(e)
		if texts, path := e.Beside(); len(texts) > 0 {
			s.Received = agree.Text{Sealed: texts[0], Path: path}
		}
		out = append(out, agree.Posted[agree.Share]{ID: e.ID(), Message: s})
	}
	return out
}

func (a *attempt) firstsInOrder() []First {
	out := make([]First, 0, a.firsts.count)
	for i, e := range a.firsts.at {
		if e.Kind() != "" {
			f, _ := firstOf(e)
			out = append(out, First{ID: e.ID(), Party: a.members[i], First: f})
		}
	}
	return out
}

// confirmed returns a member's confirmation.
func (a *attempt) confirmed(member protocol.PeerID) (protocol.Confirm, bool) {
	e, ok := a.confirms.of(member)
	if !ok {
		return protocol.Confirm{}, false
	}
	c, _ := confirmOf(e)
	return c, true
}

// header returns the release header of a member or a newcomer.
func (a *attempt) header(p study.Party) (Header, bool) {
	e, ok := a.releases[p.ID]
	if !ok {
		return Header{}, false
	}
	r, _ := releaseOf(e)
	return Header{ID: e.ID(), Attempt: a.number, Party: p, By: a.effectiveStudy(), Release: r}, true
}
