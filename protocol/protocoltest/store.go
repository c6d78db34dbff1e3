package protocoltest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
)

// Store is what a party has made durable, the virtual counterpart of package node/store. It
// survives every crash.
type Store struct {
	Decision  string                   // the steward's decision: "", "approve" or "withdraw"
	Own       []protocol.Verified      // in the order in which they were stored
	Secrets   map[uint32][]byte        // by attempt; empty if there are none
	Board     []protocol.Verified      // as far as it was read
	Head      protocol.Head            // of Board
	Ledger    []ledger.Entry           // the debits of this study
	Release   *protocol.Verified       // header of the newest stored release, stored before it is added to Own
	First     *protocol.Verified       // newest stored first round, stored before it is added to Own
	Firsts    int                      // number of first rounds made
	Made      map[protocol.Digest]Made // contents of releases, by the id of their header
	Result    protocol.Digest          // the newest stored result document
	Destroyed map[uint32]bool          // attempts whose secrets were destroyed for good; 0: all of them
}

// persist makes one record durable and says what it was. An error is a breach of the machine's
// contract with its store.
func (s *Store) persist(r session.Record) (what string, err error) {
	switch r := r.(type) {
	case session.SaveSecrets:
		if s.Destroyed[0] || s.Destroyed[r.Attempt] {
			return "", fmt.Errorf("saves secrets after their destruction")
		}
		if s.Secrets == nil {
			s.Secrets = map[uint32][]byte{}
		}
		s.Secrets[r.Attempt] = slices.Clone(r.Data.Reveal())
		return fmt.Sprintf("secrets of attempt %d", r.Attempt), nil
	case session.DestroySecrets:
		if s.Destroyed == nil {
			s.Destroyed = map[uint32]bool{}
		}
		s.Destroyed[r.Attempt] = true
		if r.Attempt == 0 {
			s.Secrets = nil
			return "the secrets' end", nil
		}
		delete(s.Secrets, r.Attempt)
		return fmt.Sprintf("the end of attempt %d's secrets", r.Attempt), nil
	case session.SaveEnvelope:
		return "own " + title(r.Envelope), s.putOwn(r.Envelope)
	case session.AppendBoard:
		return s.appendBoard(r)
	}
	return "", fmt.Errorf("persists an unknown %T", r)
}

// putOwn stores an own envelope. A second, different one of a kind and attempt is an error.
func (s *Store) putOwn(e protocol.Verified) error {
	for _, before := range s.Own {
		if before.Kind() != e.Kind() || before.Attempt() != e.Attempt() || e.Kind() == protocol.KindWelcome && about(before) != about(e) {
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

// putRelease stores a release. A second, different one of an attempt is an error.
func (s *Store) putRelease(e protocol.Verified) error {
	if s.Release != nil && s.Release.Attempt() == e.Attempt() && s.Release.ID() != e.ID() {
		return fmt.Errorf("draws a second release")
	}
	s.Release = &e
	return nil
}

// appendBoard skips envelopes replayed from the store.
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

// restored returns what a machine is restored from after a start.
func (s *Store) restored() session.PartyRestored {
	out := session.PartyRestored{Own: slices.Clone(s.Own), Secrets: map[uint32]seed.Hidden{}, Document: s.Result}
	for attempt, secrets := range s.Secrets {
		out.Secrets[attempt] = seed.Hide(secrets)
	}
	return out
}

// released returns how many releases of earlier attempts may have left.
func (s *Store) released(attempt uint32) (n int) {
	for _, e := range s.Own {
		if e.Kind() == protocol.KindRelease && e.Attempt() < attempt {
			n++
		}
	}
	return n
}

// firsts returns how many first rounds of earlier attempts may have left.
func (s *Store) firsts(attempt uint32) (n int) {
	for _, e := range s.Own {
		if e.Kind() == protocol.KindFirst && e.Attempt() < attempt {
			n++
		}
	}
	return n
}

// holds reports whether exactly this envelope is durable.
func (s *Store) holds(e protocol.Verified) bool {
	for _, own := range s.Own {
		if own.ID() == e.ID() && string(own.Envelope().Signature) == string(e.Envelope().Signature) {
			return true
		}
	}
	return false
}

// about returns the join that a welcome answers.
func about(e protocol.Verified) protocol.Digest {
	w, _ := wire.DecodeWelcome(e.Payload())
	return w.Join
}

// title names an envelope by its kind and, from the second on, its attempt.
func title(e protocol.Verified) string {
	if e.Attempt() > 1 {
		return fmt.Sprintf("%s/%d", e.Kind(), e.Attempt())
	}
	return string(e.Kind())
}

// senders returns how many nodes have posted a kind in an attempt, by the stored board.
func (s *Store) senders(kind protocol.Kind, attempt uint32) int {
	who := map[protocol.PeerID]bool{}
	for _, e := range s.Board {
		if e.Kind() == kind && e.Attempt() == attempt {
			who[e.Sender()] = true
		}
	}
	return len(who)
}

// clone returns a backup of the store.
func (s *Store) clone() Store {
	out := *s
	out.Own, out.Board = slices.Clone(s.Own), slices.Clone(s.Board)
	out.Made, out.Ledger = maps.Clone(s.Made), slices.Clone(s.Ledger)
	out.Secrets, out.Destroyed = maps.Clone(s.Secrets), maps.Clone(s.Destroyed)
	return out
}
