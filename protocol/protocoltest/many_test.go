package protocoltest

import (
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

// Many parties, whose sealed texts travel apart, agree and release masked sums to a result. One of
// them seals to a victim what does not open: it is convicted, and the others go on.
func TestManyParties(t *testing.T) {
	const n = 70
	s := newSimulation(t, Options{}, Terms{Parties: n, Quorum: n - 1, Masked: true})
	bad := s.Parties[n/3]
	bad.Role = &Role{Name: "bad share", Blame: "proved", act: instead(protocol.KindShare, func(p *Party, e protocol.Verified) []protocol.Verified {
		share := p.sharedIn(e)
		share.Sealed[n/2][0] ^= 1
		return as(p.shared(share, e.Attempt()))
	})}
	inTurn(t, s)
	if blame := s.Blame(); len(blame) != 1 || blame[0].Member != bad.Signer.ID() || !blame[0].Proved {
		t.Errorf("the board blames %v", blame)
	}
}

// With COSKETCH_FULL=1: as many as a study may have.
func TestMostParties(t *testing.T) {
	if !full.Asked() {
		t.Skip("takes minutes")
	}
	inTurn(t, newSimulation(t, Options{}, Terms{Parties: study.MaxParties, Masked: true}))
}

// inTurn plays a study to its result, which all honest parties have.
func inTurn(t *testing.T, s *Simulation) {
	t.Helper()
	if !s.Study.Apart() {
		t.Fatalf("the texts of %d parties are in their shares", len(s.Parties))
	}
	err := s.ApproveAll()
	if err == nil {
		err = s.InTurn()
	}
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Aggregator.Status(); got.State != session.Closed {
		t.Fatalf("the aggregator is %s: %v", got.State, got.Failure)
	}
	for _, p := range s.Parties {
		if got := p.Status(); p.honest() && got.State != session.Done {
			t.Fatalf("%s is %s: %v", p.Name, got.State, got.Failure)
		}
	}
	// What a member reads grows with the members, and not with their square.
	read, attempts := 0, 0
	for _, e := range s.Parties[0].Store.Board {
		if e.Kind() == protocol.KindRoster {
			attempts++
		}
		texts, path := e.Beside()
		read += len(e.Payload()) + 32*len(path)
		for _, text := range texts {
			read += len(text)
		}
	}
	if most := attempts * len(s.Parties) * (4 << 10); read > most {
		t.Errorf("a party has read %d bytes, at most %d are for %d parties and %d attempts", read, most, len(s.Parties), attempts)
	}
	t.Logf("%d parties, %d attempts: a party reads %d kB", len(s.Parties), attempts, read/1000)
}
