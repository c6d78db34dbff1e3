package protocoltest

import (
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Boards that misbehave. Under none of them does an honest party release without a certificate,
// release twice, or finish under another seed than the others. It waits in vain, or it fails and
// blames the aggregator. Check checks the rest.

// seeds returns how many seeds are played: all of them also with -short, for the search for
// mutants.
func seeds(plain, all uint64) uint64 {
	if testing.Short() {
		return all
	}
	return full.Or(plain, all)
}

func played(t *testing.T, s *Simulation) {
	t.Helper()
	err := s.Play(nil)
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, s.Trace())
	}
}

// aggregatorBlamed reports whether a party failed and blames the aggregator.
func aggregatorBlamed(s *Simulation, p *Party) bool {
	var f *protocol.Fault
	return errors.As(p.Status().Failure, &f) && f.Culprit == s.Study.Aggregator.ID
}

func newSimulation(t *testing.T, o Options, terms Terms) *Simulation {
	t.Helper()
	st, err := NewStudy(terms)
	if err != nil {
		t.Fatal(err)
	}
	o.Study = st
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The aggregator shows one party a board that is truncated, has duplicates, is reordered, or is
// older than what it has seen. That party blames the aggregator, and the others finish without it
// or stop.
func TestBoardsThatLieToOneParty(t *testing.T) {
	for name, lie := range map[string]func(session.Board) session.Board{
		"truncates": func(b session.Board) session.Board {
			b.Envelopes = b.Envelopes[:len(b.Envelopes)-1]
			return b
		},
		"duplicates": func(b session.Board) session.Board {
			b.Envelopes = append(slices.Clone(b.Envelopes), b.Envelopes[0])
			return b
		},
		"reorders": func(b session.Board) session.Board {
			b.Envelopes = slices.Clone(b.Envelopes)
			slices.Reverse(b.Envelopes)
			return b
		},
		"rolls back":  func(b session.Board) session.Board { b.From = 0; return b },
		"leaves gaps": func(b session.Board) session.Board { b.From++; return b },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds(4, 6) {
				s := newSimulation(t, Options{Seed: seed}, Terms{Parties: 4, Quorum: 3, Attempts: 2})
				victim := s.Parties[int(seed)%4]
				victim.Excused = true
				lies := 0
				s.Lie = func(to *Party, b session.Board) session.Board {
					if to != victim || b.From < uint64(2*seed) || len(b.Envelopes) < 2 && name != "rolls back" || b.From == 0 {
						return b
					}
					lies++
					return lie(b)
				}
				played(t, s)
				if lies > 0 && !aggregatorBlamed(s, victim) {
					t.Errorf("seed %d: lied to, %s is %s: %v", seed, victim.Name, victim.Status().State, victim.Status().Failure)
				}
				if got := s.Aggregator.Status().State; got != session.Closed && got != session.Stopped {
					t.Errorf("seed %d: the study hangs, %s", seed, got)
				}
			}
		})
	}
}

// An aggregator hides one confirmation from one party, and tells it that the attempt ended. Parties
// with the certificate never abandon, and the party without it never accepts a second seed.
func TestConfirmationHiddenFromOneParty(t *testing.T) {
	for seed := range seeds(4, 8) {
		s := newSimulation(t, Options{Seed: seed}, Terms{Parties: 3, Quorum: 2, Attempts: 3})
		s.Twin = &Aggregator{Signer: s.Aggregator.Signer, sim: s}
		if err := s.Twin.start(); err != nil {
			t.Fatal(err)
		}
		victim, hidden := s.Parties[0], s.Parties[2]
		s.Behind = map[string]bool{victim.Name: true}
		s.Hide = func(to *Aggregator, e protocol.Verified) bool {
			return to == s.Twin && e.Kind() == protocol.KindConfirm && e.Sender() == hidden.Signer.ID()
		}
		played(t, s)
		for _, p := range s.Parties {
			for _, e := range p.Store.Own {
				if e.Kind() == protocol.KindAbandon && p.attempt == e.Attempt() {
					t.Errorf("seed %d: %s is seeded in attempt %d and abandons it", seed, p.Name, e.Attempt())
				}
			}
		}
		if victim.T2 != (protocol.Digest{}) && victim.T2 != s.Parties[1].T2 {
			t.Errorf("seed %d: %s released under another seed than %s", seed, victim.Name, s.Parties[1].Name)
		}
	}
}

// Two boards under one key, with two rosters for one attempt: at most one of them gives a seed, and
// no honest party is convicted by what was made for the other.
func TestDisjointRosters(t *testing.T) {
	for seed := range seeds(6, 12) {
		s := newSimulation(t, Options{Seed: seed}, Terms{Parties: 4, Quorum: 3, Attempts: 3})
		s.Twin = &Aggregator{Signer: s.Aggregator.Signer, sim: s}
		if err := s.Twin.start(); err != nil {
			t.Fatal(err)
		}
		s.Behind = map[string]bool{s.Parties[3].Name: true}
		if seed%2 == 0 {
			s.Behind[s.Parties[2].Name] = true
		}
		s.Hide = func(to *Aggregator, e protocol.Verified) bool {
			left := e.Sender() == s.Parties[0].Signer.ID() && to == s.Twin
			right := e.Sender() == s.Parties[3].Signer.ID() && to == s.Aggregator
			return e.Kind() == protocol.KindApprove && (left || right)
		}
		played(t, s)
		seeds := map[[32]byte]bool{}
		for _, p := range s.Parties {
			if p.Status().State == session.Done {
				seeds[p.Seed] = true
			}
			if p.Store.Release != nil && p.Debits != 1 {
				t.Errorf("seed %d: %s spent its budget %d times", seed, p.Name, p.Debits)
			}
		}
		if len(seeds) > 1 {
			t.Errorf("seed %d: %d seeds", seed, len(seeds))
		}
	}
}

// An aggregator shows two rosters for one attempt: members of one share under another T1 than those
// of the other. They reach no common seed. A party that is left out is told that the agreement
// differs, with both values. No honest party is convicted. What two parties have stored convicts
// the aggregator for anybody who compares it.
func TestEquivocationIsDetected(t *testing.T) {
	for seed := range seeds(6, 12) {
		s := newSimulation(t, Options{Seed: seed}, Terms{Parties: 4, Quorum: 3, Attempts: 2})
		s.Twin = &Aggregator{Signer: s.Aggregator.Signer, sim: s}
		if err := s.Twin.start(); err != nil {
			t.Fatal(err)
		}
		victim := s.Parties[3]
		s.Behind = map[string]bool{victim.Name: true}
		s.Hide = func(to *Aggregator, e protocol.Verified) bool {
			left := e.Sender() == s.Parties[0].Signer.ID() && to == s.Twin
			right := e.Sender() == victim.Signer.ID() && to == s.Aggregator
			return e.Kind() == protocol.KindApprove && (left || right)
		}
		played(t, s) // Check: no honest party is convicted
		var d *protocol.Disagreement
		if got := victim.Status(); got.State == session.Done || !slices.ContainsFunc(got.Blame, func(c session.Culprit) bool {
			return c.Standing == session.Claimed && errors.As(c.Err, &d) && d.On == protocol.OnSeed && d.Theirs != d.Ours
		}) {
			t.Errorf("seed %d: the victim is %s and blames %+v", seed, got.State, got.Blame)
		}
		proof := map[protocol.Digest]bool{}
		for _, p := range s.Parties {
			for _, e := range p.Store.Board {
				if e.Kind() == protocol.KindRoster && e.Attempt() == 1 && e.Sender() == s.Study.Aggregator.ID {
					proof[e.ID()] = true
				}
			}
		}
		if len(proof) != 2 {
			t.Errorf("seed %d: the stores hold %d first rosters", seed, len(proof))
		}
	}
}

// A carrier may re-encode a message: with its fields in another order it is the same message.
func TestBoardThatReencodes(t *testing.T) {
	s := newSimulation(t, Options{Seed: 3}, Terms{})
	s.Carry = func(raw []byte) (out []byte) {
		for len(raw) > 0 {
			_, _, n := protowire.ConsumeField(raw)
			if n < 0 {
				t.Fatal("not an encoding")
			}
			out, raw = slices.Concat(raw[:n], out), raw[n:]
		}
		return out
	}
	played(t, s)
	if err := s.progress(); err != nil {
		t.Error(err)
	}
}

// A store is reset to any earlier state. The party stops when it finds its own newer messages on
// the board, or continues as if nothing had happened, and never releases twice.
func TestStoresRestoredFromABackup(t *testing.T) {
	states := []session.State{session.Approved, session.Committed, session.Shared, session.Confirmed, session.Seeded, session.Sketched, session.Released}
	caught := 0
	for i, saved := range states {
		for _, later := range states[i+1:] {
			s := newSimulation(t, Options{Seed: 5}, Terms{Late: true, Quorum: 2})
			if err := s.ApproveAll(); err != nil {
				t.Fatal(err)
			}
			p := s.Parties[1]
			p.Excused = true
			at := func(state session.State) {
				if err := s.RunUntil(func() bool { return p.Status().State == state }); err != nil {
					t.Fatal(err)
				}
			}
			at(saved)
			backup := p.Store.clone()
			at(later)
			before := p.Store.Release
			p.Store = backup
			debits := p.Debits
			p.crash()
			p.restored = true
			if err := s.survive(p.start()); err != nil {
				t.Fatal(err)
			}
			for _, date := range s.dates() {
				if err := s.Run(); err != nil {
					t.Fatalf("%s restored at %s: %v", saved, later, err)
				}
				if err := s.Advance(date); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Run(); err != nil {
				t.Fatalf("%s restored at %s: %v", saved, later, err)
			}
			if errors.Is(p.Status().Failure, session.ErrRolledBack) {
				caught++
			}
			posted := map[protocol.Digest]bool{}
			for _, e := range s.Aggregator.Stored {
				if e.Kind() == protocol.KindRelease && e.Sender() == p.Signer.ID() {
					posted[e.ID()] = true
				}
			}
			if len(posted) > 1 {
				t.Errorf("%s restored at %s: two releases", saved, later)
			}
			if before != nil && posted[before.ID()] && p.Debits > debits {
				t.Errorf("%s restored at %s: released before, and again", saved, later)
			}
			for _, r := range s.Blame() {
				if r.Member == p.Signer.ID() && r.Proved && !errors.Is(r.Err, session.ErrConflict) {
					t.Errorf("%s restored at %s: convicted of %v", saved, later, r.Err)
				}
			}
		}
	}
	if caught < 5 {
		t.Errorf("only %d stores were seen to be rolled back", caught)
	}
}
