package protocoltest

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/seed"
)

func simulate(t *testing.T, o Options) *Simulation {
	t.Helper()
	s, err := New(o)
	if err == nil {
		err = s.ApproveAll()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A seed determines the schedule, although the ciphertexts differ from run to run.
func TestSeedFixesTheTrace(t *testing.T) {
	run := func(seed uint64) string {
		s := simulate(t, Options{Seed: seed, Loss: 0.3, Crash: func(n int) bool { return n%17 == 0 }})
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		return s.Trace()
	}
	one := run(1)
	if again := run(1); again != one {
		t.Errorf("one seed, two traces:\n%s\n%s", one, again)
	}
	if run(2) == one {
		t.Error("two seeds, one trace")
	}
	for _, want := range []string{"crashes", "is lost", "is delayed", "has ", "is done"} {
		if !strings.Contains(one, want) {
			t.Errorf("the trace never says %q", want)
		}
	}
}

// The simulation reports when a machine breaks its contract. Here the test itself does what
// machines must never do.
func TestBreachesAreSeen(t *testing.T) {
	for name, tc := range map[string]struct {
		breach func(*Simulation, *Party)
		says   string
	}{
		"sends what is not durable": {func(s *Simulation, p *Party) {
			network{p, most}.Post(t.Context(), []protocol.Verified{another(s, p)})
		}, "not durable"},
		"sends twice, differently": {func(s *Simulation, p *Party) {
			p.post()
			p.Store.Own = []protocol.Verified{another(s, p)}
			network{p, most}.Post(t.Context(), p.Store.Own)
		}, "two different approve"},
		"signs twice, differently": {func(s *Simulation, p *Party) {
			disk{p}.Persist(session.SaveEnvelope{Envelope: another(s, p)})
		}, "second, different approve"},
		"saves secrets after their end": {func(_ *Simulation, p *Party) {
			disk{p}.Persist(session.DestroySecrets{})
			disk{p}.Persist(session.SaveSecrets{Data: seed.Hide([]byte{1})})
		}, "after their destruction"},
		"leaves a gap in its board": {func(_ *Simulation, p *Party) {
			disk{p}.Persist(session.AppendBoard{From: 1})
		}, "where it has 0"},
		"releases without a certificate": {func(_ *Simulation, p *Party) {
			p.watch(session.MakeRelease{})
		}, "0 confirmations"},
		"keeps secrets after the release": {func(_ *Simulation, p *Party) {
			p.Store.Secrets = map[uint32][]byte{1: {1}}
			p.watch(session.Upload{})
		}, "holds secrets"},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulate(t, Options{})
			tc.breach(s, s.Parties[0])
			if err := s.Run(); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("run ends with %v, which should say %q", err, tc.says)
			}
		})
	}
}

// another returns an approval that the party's machine has not signed.
func another(s *Simulation, p *Party) protocol.Verified {
	return Sealed(p.Signer.Seal(s.Study.ID, protocol.KindApprove, 0, nil))
}

// Boards with a common beginning do not overwrite each other.
func TestBoardsAreIndependent(t *testing.T) {
	s := simulate(t, Options{})
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	whole := s.Aggregator.Board()
	head := whole.Head(len(whole.Envelopes))
	if head.Chain != s.Aggregator.machine.Head().Chain {
		t.Fatal("the board's head is not the machine's")
	}
	whole.With(2, whole.Envelopes[0], whole.Envelopes[0])
	if whole.Head(len(whole.Envelopes)).Chain != head.Chain {
		t.Error("a board was changed by its copy")
	}
	if err := protocol.VerifyHead(head, s.Aggregator.Signer.ID()); err != nil {
		t.Error(err)
	}
}
