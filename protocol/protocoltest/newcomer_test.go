package protocoltest

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// awaiting is a study of four in which a, b and c have agreed and have a result, and
// d has not decided.
func awaiting(t *testing.T) *Simulation {
	t.Helper()
	s := newSimulation(t, Options{Seed: 8}, Terms{Parties: 4, Quorum: 3, Late: true})
	for _, p := range s.Parties[:3] {
		if err := p.Approve(); err != nil {
			t.Fatal(err)
		}
	}
	for _, act := range []func() error{s.Run, func() error { return s.Advance(Expires) }, s.Run} {
		if err := act(); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Aggregator.Status().State; got != session.Answered {
		t.Fatalf("the aggregator is %s", got)
	}
	return s
}

// A newcomer refuses a welcome with another seed: it checks the seed against every confirmation,
// waits for another welcome, and accepts that.
func TestNewcomersRefuseAnotherSeed(t *testing.T) {
	s := awaiting(t)
	liar, d := s.Parties[0], s.Parties[3]
	if err := d.Approve(); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	var join protocol.Verified
	for _, e := range s.Aggregator.Stored {
		if e.Kind() == protocol.KindJoin {
			join = e
		}
	}
	key := decode(wire.DecodeJoin(join.Payload())).EphemeralKey
	sealed, err := agree.Invitation{T2: liar.T2, Join: join.ID(), Welcomer: liar.Signer.ID(), Newcomer: d.Signer.ID()}.Seal(seed.FromBytes([32]byte{1}), key)
	if err != nil {
		t.Fatal(err)
	}
	lie := Sealed(liar.Signer.Seal(s.Study.ID, protocol.KindWelcome, 1, wire.EncodeWelcome(protocol.Welcome{Join: join.ID(), Sealed: sealed})))
	if err := s.Aggregator.Post(lie); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if got := d.Status(); got.State != session.Joining || d.T2 != (protocol.Digest{}) {
		t.Fatalf("after a false welcome d is %s (%v)", got.State, got.Failure)
	}
	honest := s.Parties[1]
	honest.Welcome = func(id protocol.PeerID) bool { return id == d.Signer.ID() }
	honest.machine = nil // its steward has changed the site file
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if got := d.Status(); got.State != session.Done || d.Seed != honest.Seed {
		t.Errorf("after a true welcome d is %s (%v)", got.State, got.Failure)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

// Parties that may not come late: strangers, members, those that withdrew or were struck, and
// everybody after late_until.
func TestNewcomersThatAreRefused(t *testing.T) {
	join := func(s *Simulation, by protocol.Signer) protocol.Verified {
		secrets := decode(agree.Begin(s.Study.ID, 1, by.ID(), s.Parties[0].entropy))
		return Sealed(by.Seal(s.Study.ID, protocol.KindJoin, 1, wire.EncodeJoin(protocol.Join{Meaning: s.Study.Meaning, EphemeralKey: secrets.Commit().EphemeralKey})))
	}
	for name, c := range map[string]struct {
		by   func(*Simulation) protocol.Signer
		do   func(*Simulation) error
		says string
	}{
		"a stranger": {by: func(*Simulation) protocol.Signer { return Identity("stranger") }, says: "does not list"},
		"a member":   {by: func(s *Simulation) protocol.Signer { return s.Parties[0].Signer }, says: "on the roster already"},
		"one that withdrew": {by: func(s *Simulation) protocol.Signer { return s.Parties[3].Signer }, do: func(s *Simulation) error {
			return s.Aggregator.Post(Sealed(s.Parties[3].Signer.Seal(s.Study.ID, protocol.KindWithdraw, 0, nil)))
		}, says: "closed"}, // nobody is left to wait for
		"one that is too late": {by: func(s *Simulation) protocol.Signer { return s.Parties[3].Signer }, do: func(s *Simulation) error {
			s.Now = LateUntil
			return nil
		}, says: "closed"},
		"one in time": {by: func(s *Simulation) protocol.Signer { return s.Parties[3].Signer }},
	} {
		s := awaiting(t)
		if c.do != nil {
			if err := c.do(s); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		err := s.Aggregator.Post(join(s, c.by(s)))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}

	// A struck member cannot come back, although the study takes late parties.
	s := newSimulation(t, Options{Seed: 8}, Terms{Parties: 4, Quorum: 3, Late: true})
	s.Parties[2].Role = agreementRoles(s.choose)[1]
	if err := s.ApproveAll(); err != nil {
		t.Fatal(err)
	}
	if err := s.RunUntil(func() bool { return s.Aggregator.Status().State == session.Collecting }); err != nil {
		t.Fatal(err)
	}
	late := join(s, s.Parties[2].Signer)
	again := Sealed(s.Parties[2].Signer.Seal(s.Study.ID, protocol.KindJoin, 2, late.Payload()))
	if err := s.Aggregator.Post(again); err == nil || !strings.Contains(err.Error(), "struck") {
		t.Errorf("a struck member joins: %v", err)
	}
}

// A newcomer joins even if it or any other node crashes at any point after its approval.
func TestNewcomersSurviveCrashes(t *testing.T) {
	for point := 1; ; point++ {
		s := awaiting(t)
		for _, p := range s.Parties[:3] {
			p.Welcome, p.machine = func(protocol.PeerID) bool { return true }, nil // read at the start
		}
		before := s.Points
		s.Crash = func(n int) bool { return n == before+point }
		d := s.Parties[3]
		if err := d.Approve(); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		if got := d.Status(); got.State != session.Done {
			t.Fatalf("with a crash at point %d, d is %s (%v)\n%s", point, got.State, got.Failure, s.Trace())
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		if s.Points < before+point {
			if point < 20 {
				t.Errorf("only %d points", point)
			}
			return
		}
	}
}

// A newcomer that proves another seed is admitted, named by every member, and stops nothing.
func TestNewcomersThatProveAnotherSeed(t *testing.T) {
	s := awaiting(t)
	d := s.Parties[3]
	for _, r := range lateRoles() {
		if r.Late {
			d.Role = r
		}
	}
	for _, p := range s.Parties[:3] {
		p.Welcome, p.machine = func(protocol.PeerID) bool { return true }, nil // read at the start
	}
	if err := d.Approve(); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Parties[:3] {
		var differs *protocol.Disagreement
		got := p.Status().Blame
		if len(got) != 1 || got[0].Node != d.Signer.ID() || got[0].Standing != session.Seen || !errors.As(got[0].Err, &differs) || differs.Who != d.Name {
			t.Errorf("%s blames %+v", p.Name, got)
		}
	}
	for _, act := range []func() error{s.Check, func() error { return s.Advance(LateUntil) }, s.Run, s.Check} {
		if err := act(); err != nil {
			t.Fatal(err)
		}
	}
	if !d.Role.Did() || s.Aggregator.Status().State != session.Closed || len(s.Blame()) > 0 {
		t.Errorf("the study ended %s, the board blames %v", s.Aggregator.Status().State, s.Blame())
	}
	for _, p := range s.Parties[:3] {
		if got := p.Status(); got.State != session.Done {
			t.Errorf("%s is %s: %v", p.Name, got.State, got.Failure)
		}
	}
}
