package protocoltest

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Store is what a party has made durable, the virtual counterpart of package
// node/store: it survives every crash.
type Store struct {
	Decision  string              // what the steward said: "", "approve" or "withdraw"
	Own       []protocol.Verified // in the order in which they were stored
	Secrets   []byte              // nil when there are none
	Board     []protocol.Verified // as far as it was read
	Head      protocol.Head       // of Board
	Release   *protocol.Verified  // the stored release's header, before it is among Own
	Result    bool                // the result's documents are here
	Destroyed bool                // secrets were destroyed, for good
}

// persist makes one record durable and says what it was. Its error is a breach
// of what the store holds a machine to.
func (s *Store) persist(r session.Record) (what string, err error) {
	switch r := r.(type) {
	case session.SaveSecrets:
		if s.Destroyed {
			return "", fmt.Errorf("saves secrets after their destruction")
		}
		s.Secrets = slices.Clone(r.Data)
		return "secrets", nil
	case session.DestroySecrets:
		s.Secrets, s.Destroyed = nil, true
		return "the secrets' end", nil
	case session.SaveEnvelope:
		return fmt.Sprintf("own %s", r.Envelope.Kind()), s.putOwn(r.Envelope)
	case session.AppendBoard:
		return s.appendBoard(r)
	}
	return "", fmt.Errorf("persists an unknown %T", r)
}

// putOwn holds that there is one own envelope per kind and attempt, for good.
func (s *Store) putOwn(e protocol.Verified) error {
	for _, before := range s.Own {
		if before.Kind() != e.Kind() || before.Attempt() != e.Attempt() {
			continue
		}
		if before.ID() != e.ID() {
			return fmt.Errorf("signs a second, different %s", e.Kind())
		}
		return nil
	}
	s.Own = append(s.Own, e)
	return nil
}

// appendBoard skips what is replayed from the store.
func (s *Store) appendBoard(r session.AppendBoard) (string, error) {
	have := uint64(len(s.Board))
	if r.From < have {
		return "", nil
	}
	if r.From > have {
		return "", fmt.Errorf("appends to its board from %d, where it has %d", r.From, have)
	}
	s.Board = append(s.Board, r.Envelopes...)
	s.Head = r.Head
	return fmt.Sprintf("the board to %d", len(s.Board)), nil
}

// restored is what a machine is made from after a start.
func (s *Store) restored() session.PartyRestored {
	out := session.PartyRestored{Own: slices.Clone(s.Own), Secrets: slices.Clone(s.Secrets), Finished: s.Result}
	for _, e := range s.Own {
		out.Released = out.Released || e.Kind() == protocol.KindRelease
	}
	return out
}

// holds reports whether an envelope is durable, exactly as it is.
func (s *Store) holds(e protocol.Verified) bool {
	for _, own := range s.Own {
		if own.ID() == e.ID() && string(own.Envelope().Signature) == string(e.Envelope().Signature) {
			return true
		}
	}
	return false
}

// senders returns how many nodes have posted a kind, by the stored board.
func (s *Store) senders(kind protocol.Kind) int {
	who := map[protocol.PeerID]bool{}
	for _, e := range s.Board {
		if e.Kind() == kind {
			who[e.Sender()] = true
		}
	}
	return len(who)
}
