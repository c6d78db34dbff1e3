package protocoltest

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
)

// network carries a party's messages to the aggregator, or loses them, and reads the board, at most
// that many messages at a time.
type network struct {
	*Party
	most int
}

// Post sends envelopes one by one.
func (n network) Post(_ context.Context, envelopes []protocol.Verified) (refused, err error) {
	for _, e := range envelopes {
		if refused, err = n.one(e); refused != nil || err != nil {
			return refused, err
		}
	}
	return nil, nil
}

func (n network) one(e protocol.Verified) (refused, err error) {
	raw := wire.EncodeEnvelope(e.Envelope())
	if n.Role == nil && !n.Store.holds(e) {
		n.sim.breach("%s sends a %s that is not durable", n.Name, e.Kind())
	}
	name := title(e)
	if e.Kind() == protocol.KindWelcome {
		name += " " + about(e).String()
	}
	if before, ok := n.sent[name]; n.Role == nil && !n.restored && ok && before != sha256.Sum256(raw) {
		n.sim.breach("%s sends two different %s messages", n.Name, e.Kind())
	}
	n.sent[name] = sha256.Sum256(raw)
	if texts, _ := e.Beside(); n.sim.many() && len(texts) > 0 {
		n.sim.beside[e.ID()] = texts
	}
	current := n.Role == nil && n.machine.Count() == n.keeper().count() && n.sim.Twin == nil
	err = n.put(e, raw)
	if current && errors.Is(err, session.ErrPassed) && !errors.Is(err, session.ErrClosed) {
		n.sim.breach("%s sends what has lost its turn on the board that it holds: %v", n.Name, reason(err))
	}
	switch {
	case err == nil, errors.Is(err, session.ErrPosted):
		return nil, nil
	case errors.Is(err, errLost), errors.Is(err, errCrashed):
		return nil, err
	}
	return err, nil
}

// put sends an envelope, or what the party's role replaces it with.
func (n network) put(e protocol.Verified, raw []byte) error {
	if n.Role == nil {
		return n.sim.send(n.Party, raw)
	}
	for _, other := range n.Role.send(n.Party, e) {
		if err := n.sim.send(n.Party, wire.EncodeEnvelope(other.Envelope())); err != nil && !errors.Is(err, errLost) {
			n.sim.Refused++
		}
	}
	return nil
}

// Read returns the aggregator's answer.
func (n network) Read(_ context.Context, from uint64, _ uint32) (session.Board, error) {
	n.asked = n.sim.Now
	reply, err := n.keeper().reply(n.Party, from, n.most)
	if err != nil {
		return session.Board{}, err
	}
	if n.sim.Lie != nil {
		reply = n.sim.Lie(n.Party, reply)
	}
	if len(reply.Envelopes) > 0 {
		n.sim.note("%s reads %s", n.Name, n.sim.names(reply.Envelopes))
	}
	return reply, nil
}
