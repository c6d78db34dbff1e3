package protocoltest

import (
	"errors"
	"math/rand/v2"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
)

// bundleTrip is a party's bundle on its way to the aggregator, and then the answer on its way back.
// Meanwhile others act, so the contents of a bundle may have lost their turn when it arrives.
type bundleTrip struct {
	envelopes [][]byte
	header    protocol.Digest // of the release whose chunks are in the bundle; zero if there are none
	count     uint64          // length of the board at export

	home  bool             // the bundle has arrived, and the answer is on its way
	board uint64           // length of the board in the answer
	at    protocol.Instant // when the answer was written
}

// byHand returns the next action of a party that carries its study by hand, instead of posting and
// reading; nil if there is none.
func (p *Party) byHand() func() error {
	a := p.keeper()
	post, _ := p.due()
	switch {
	case p.way == nil && (len(post) > 0 || !p.upToDate()):
		return p.export
	case p.way == nil:
		return nil
	case p.way.home:
		return p.importAnswer
	case a.machine != nil:
		return p.arrive
	}
	return nil
}

// export writes a bundle of everything that the machine wants sent.
func (p *Party) export() error {
	w := &bundleTrip{count: p.machine.Count()}
	post, _ := p.due()
	for _, e := range post {
		if !p.Store.holds(e) {
			p.sim.breach("%s carries a %s that is not durable", p.Name, e.Kind())
		}
		w.envelopes = append(w.envelopes, wire.EncodeEnvelope(e.Envelope()))
	}
	if p.machine.Carries() && p.Store.Release != nil {
		w.header = p.Store.Release.ID()
	}
	p.sim.note("%s exports %s", p.Name, p.sim.names(post))
	p.way = w
	return p.mayCrash()
}

// arrive processes a bundle at the aggregator, as package node does, and writes the answer. It
// continues after refusals because a message lost its turn; any other refusal is a breach.
func (p *Party) arrive() error {
	a, w := p.keeper(), p.way
	if p.sim.choose.Float64() < p.sim.Loss/2 {
		p.sim.note("%s's bundle is lost", p.Name)
		p.way = nil
		return nil
	}
	for _, raw := range w.envelopes {
		current := w.count == a.count()
		switch err := p.sim.deliver(a, raw); {
		case err == nil, errors.Is(err, session.ErrPosted):
		case errors.Is(err, errCrashed):
			return err
		case errors.Is(err, session.ErrPassed):
			if current && !errors.Is(err, session.ErrClosed) {
				p.sim.breach("%s sends what has lost its turn on the board that it holds: %v", p.Name, reason(err))
			}
		default:
			p.sim.breach("the bundle of %s is refused: %v", p.Name, reason(err))
		}
	}
	if h, posted := a.machine.Release(p.Signer.ID()); posted && h.ID == w.header {
		if err := a.collect(p.Signer.ID()); err != nil {
			return err
		}
	}
	w.home, w.board, w.at = true, a.count(), p.sim.Now
	return nil
}

// importAnswer reads the aggregator's answer.
func (p *Party) importAnswer() error {
	w := p.way
	p.way = nil
	if news := int64(w.board) - int64(p.machine.Count()); news > 0 {
		if err := p.read(int(news)); err != nil {
			return err
		}
	} else if err := p.read(0); err != nil {
		return err
	}
	p.asked = w.at
	return p.mayCrash()
}

// carriers picks parties that carry the study by hand, in a third of the schedules. They are
// honest.
func (s *Simulation) carriers() {
	if s.Seed%3 != 1 {
		return
	}
	draw := rand.New(rand.NewPCG(s.Seed, 3))
	for _, p := range s.Parties {
		p.Hand = p.honest() && !s.Censored[p.Name] && draw.IntN(2) == 0
	}
}
