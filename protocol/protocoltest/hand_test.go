package protocoltest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Whatever one party does, all others end with a result, whether their messages travel over the
// network or in bundles. A refused bundle of an honest party is a breach.
func TestNobodyIsStuckByAnother(t *testing.T) {
	const seeds = uint64(4)
	for i, role := range Roles(rand.New(rand.NewPCG(1, 1))) {
		t.Run(role.Name, func(t *testing.T) {
			t.Parallel()
			did := 0
			for seed := range 2 * seeds {
				terms := Terms{Parties: 4, Quorum: 3, Attempts: 3, Late: role.Late, Apart: role.Apart, Public: seed%4 > 1 && !role.withholds && !role.Rounds, Masked: role.withholds || role.Rounds && seed%2 == 0, Rounds: role.Rounds}
				s := begun(t, terms, seed)
				bad := s.Parties[seed%4]
				bad.Role = Roles(rand.New(rand.NewPCG(seed, 2)))[i]
				var late *Party
				if role.Late {
					late, bad.Excused = bad, true
				}
				for _, p := range s.Parties {
					p.Hand = p.honest() && seed < seeds
					p.Welcome = func(protocol.PeerID) bool { return true }
					p.machine = nil // the rule is read at the start
				}
				err := s.Play(late)
				if err == nil {
					err = s.Check()
				}
				if err == nil {
					err = s.progress()
				}
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, s.Trace())
				}
				if bad.Role.Did() {
					did++
				}
			}
			// Ciphertexts differ from run to run: the share it likes best may be its first one.
			if did == 0 && role.Name != "last sharer" {
				t.Error("it never misbehaved")
			}
		})
	}
}

func begun(t *testing.T, terms Terms, seed uint64) *Simulation {
	t.Helper()
	st, err := NewStudy(terms)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Study: st, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A withdrawal may come at any time before its sender has committed, even from a party that has not
// read the others' newer messages. The others continue without it.
func TestWithdrawalsStopNobody(t *testing.T) {
	withdrew, seeds := map[string]int{}, 60
	for seed := range uint64(seeds) {
		s := begun(t, Terms{Parties: 4, Quorum: 3, Attempts: 3}, seed)
		leaver := s.Parties[seed%4]
		for _, p := range s.Parties {
			p.Hand = seed%3 > 0
			if err := p.Approve(); err != nil {
				t.Fatal(err)
			}
		}
		leaves := int(seed) % 20 // number of messages on the board
		if err := s.RunUntil(func() bool { return len(s.Aggregator.Stored) >= leaves }); err != nil {
			t.Fatal(err)
		}
		phase := fmt.Sprint(s.Aggregator.Status().State)
		if leaver.Withdraw() == nil {
			withdrew[phase]++
		} else {
			leaver.Store.Decision = "approve" // too late: it has committed
		}
		for _, date := range append([]protocol.Instant{s.Now}, s.dates()...) {
			if err := s.Advance(date); err != nil {
				t.Fatal(err)
			}
			if err := s.Run(); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, s.Trace())
			}
		}
		for _, p := range s.Parties {
			if got := p.Status(); got.State != session.Done && (p != leaver || got.State != session.Withdrawn) {
				t.Errorf("seed %d: %s is %s (%v, %v)\n%s", seed, p.Name, got.State, got.Failure, p.Over, s.Trace())
			}
		}
	}
	if min(withdrew["open"], withdrew["agreeing"]) < seeds/12 {
		t.Errorf("withdrew %v", withdrew)
	}
}
