package protocoltest

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Many makes a study of that many parties with masked sums, whose sealed texts travel apart. With
// lies, one of them seals to another a text that does not open.
func Many(parties int, seed uint64, lies bool) (*Simulation, error) {
	terms := Terms{Parties: parties, Masked: true, Apart: true}
	if lies {
		terms.Quorum = parties - 1
	}
	st, err := NewStudy(terms)
	if err != nil {
		return nil, err
	}
	s, err := New(Options{Study: st, Seed: seed})
	if err != nil || !lies {
		return s, err
	}
	s.Liar().Role = &Role{Name: "bad share", Blame: "proved", act: instead(protocol.KindShare, func(p *Party, e protocol.Verified) []protocol.Verified {
		share := p.sharedIn(e)
		share.Sealed[parties/2][0] ^= 1
		return as(p.shared(share, e.Attempt()))
	})}
	return s, nil
}

// Liar returns the lying party of Many, if there is one.
func (s *Simulation) Liar() *Party { return s.Parties[len(s.Parties)/3] }

// Cost reports the cost of a study of many parties.
type Cost struct {
	Attempts int
	Read     int // bytes that each party has read of the board, including texts sealed to it
}

// ToResult lets all parties approve and plays a study with InTurn. It returns an error unless all
// honest parties have the result and Check passes.
func (s *Simulation) ToResult() (out Cost, err error) {
	if err = s.ApproveAll(); err == nil {
		err = s.InTurn()
	}
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		return out, err
	}
	if got := s.Aggregator.Status(); got.State != session.Closed {
		return out, fmt.Errorf("the aggregator is %s: %w", got.State, got.Failure)
	}
	for _, p := range s.Parties {
		if got := p.Status(); p.honest() && got.State != session.Done {
			return out, fmt.Errorf("%s is %s: %w", p.Name, got.State, got.Failure)
		}
	}
	for _, e := range s.Parties[0].Store.Board {
		if e.Kind() == protocol.KindRoster {
			out.Attempts++
		}
		texts, path := e.Beside()
		out.Read += len(e.Payload()) + 32*len(path)
		for _, text := range texts {
			out.Read += len(text)
		}
	}
	return out, nil
}
