package session_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
)

// stopped checks that the aggregator stopped the study and names the missing parties.
func stopped(t *testing.T, s *protocoltest.Simulation, at protocol.Instant, missing ...*protocoltest.Party) {
	t.Helper()
	var stop *session.StoppedError
	if err := s.Aggregator.Status().Failure; !errors.As(err, &stop) {
		t.Fatalf("the aggregator is %s: %v", s.Aggregator.Status().State, err)
	}
	var want []protocol.PeerID
	for _, p := range missing {
		want = append(want, p.Signer.ID())
	}
	if !slices.Equal(stop.Stop.Missing, want) || stop.Stop.At != at {
		t.Errorf("stopped at %s, missing %v, want %v", stop.Stop.At, stop.Stop.Missing, want)
	}
	for _, c := range s.Aggregator.Status().Blame {
		agreeing := countOf(s, protocol.KindRoster) > 0 && countOf(s, protocol.KindConfirm) < len(s.Parties)
		if (c.Attempt == 1) != agreeing || (c.Kind != "") != agreeing {
			t.Errorf("%s is missed with %q of attempt %d", c.Node, c.Kind, c.Attempt)
		}
	}
}

// heard checks that parties know of the stop, and hold no secret of the study.
func heard(t *testing.T, parties ...*protocoltest.Party) {
	t.Helper()
	for _, p := range parties {
		var stop *session.StoppedError
		if got := p.Status(); got.State != session.Failed || !errors.As(got.Failure, &stop) {
			t.Errorf("%s is %s: %v", p.Name, got.State, got.Failure)
		}
		if len(p.Store.Secrets) > 0 {
			t.Errorf("%s keeps the secrets of a stopped study", p.Name)
		}
	}
}

func TestApprovalClosesAtExpiry(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Seed: 3})
	for _, tc := range []struct {
		at   protocol.Instant
		open bool
	}{{protocoltest.Expires - 1, true}, {protocoltest.Expires, false}} {
		s := simulate(t, protocoltest.Options{Study: f.study})
		s.Now = tc.at
		err := s.Parties[0].Approve()
		var deadline *session.DeadlineError
		if open := err == nil; open != tc.open || !open && !errors.As(err, &deadline) {
			t.Errorf("the party consents at %s: %v", tc.at, err)
		}
		if n := len(s.Parties[0].Store.Own); (n == 1) != tc.open {
			t.Errorf("the party signed %d messages at %s", n, tc.at)
		}

		err = s.Aggregator.Post(f.approve(f.party(1)))
		if tc.open {
			check(t, err)
		} else {
			blamed(t, err, f.party(1).ID(), session.ErrPremature)
		}
	}
}

// An approval that is already on the board is not late.
func TestApprovalAgainAfterExpiry(t *testing.T) {
	s := approved(t, protocoltest.Options{})
	e := s.Parties[0].Store.Own[0]
	check(t, s.Aggregator.Post(e))
	s.Now = protocoltest.Expires
	if err := s.Aggregator.Post(e); !errors.Is(err, session.ErrPosted) {
		t.Errorf("the same approval again: %v", err)
	}
}

// Approvals are accepted until the second before they expire.
func TestApprovalAtExpiryIsLate(t *testing.T) {
	s := approved(t, protocoltest.Options{})
	s.Now = protocoltest.Expires - 1
	check(t, s.Aggregator.Post(s.Parties[0].Store.Own[0]))
	s.Now = protocoltest.Expires
	if err := s.Aggregator.Post(s.Parties[1].Store.Own[0]); !errors.Is(err, session.ErrClosed) {
		t.Errorf("an approval as approvals expire: %v", err)
	}
}

func TestQuorumAtExpiryGoesOn(t *testing.T) {
	s := simulate(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Parties: 4, Quorum: 3})})
	late := s.Parties[1]
	for _, p := range s.Parties {
		if p != late {
			check(t, p.Approve())
		}
	}
	check(t, s.Run())
	if countOf(s, protocol.KindRoster) != 0 || s.Aggregator.Status().State != session.Open {
		t.Fatal("the roster was fixed before everybody decided or approval closed")
	}
	check(t, s.Advance(protocoltest.Expires))
	check(t, s.Run())
	for _, p := range s.Parties {
		want := session.Done
		if p == late {
			want = session.Invited
		}
		if got := p.Status(); got.State != want {
			t.Errorf("%s is %s: %v", p.Name, got.State, got.Failure)
		}
	}
	r, err := wire.DecodeResult(s.Aggregator.Stored[len(s.Aggregator.Stored)-1].Payload())
	check(t, err)
	if len(r.Releases) != 3 || !r.Completed {
		t.Errorf("a result of %d releases, completed: %v", len(r.Releases), r.Completed)
	}
}

func TestNoQuorumAtExpiryStops(t *testing.T) {
	s := simulate(t, protocoltest.Options{})
	a, b, c := s.Parties[0], s.Parties[1], s.Parties[2]
	check(t, b.Approve())
	check(t, s.Run())
	check(t, s.Advance(protocoltest.Expires))
	stopped(t, s, protocoltest.Expires, a, c)
	check(t, s.Run())
	heard(t, a, b, c)
}

// A missing party stops the agreement at the deadline and no earlier. It is named, and the others
// destroy their secrets.
func TestAgreementThatIsNotCompleteStops(t *testing.T) {
	for i, kind := range []protocol.Kind{protocol.KindCommit, protocol.KindShare, protocol.KindConfirm} {
		t.Run(string(kind), func(t *testing.T) {
			s := approved(t, protocoltest.Options{Seed: 4})
			gone := s.Parties[1]
			check(t, s.RunUntil(func() bool { return len(gone.Store.Own) == i+2 && gone.Store.Own[i+1].Kind() == kind }))
			gone.Away = true // it has signed this message but not sent it
			check(t, s.Run())
			check(t, s.Advance(protocoltest.Deadline-1))
			check(t, s.Run())
			if got := s.Aggregator.Status(); got.State != session.Agreeing || !slices.Equal(got.From, []protocol.PeerID{gone.Signer.ID()}) {
				t.Fatalf("before the deadline the aggregator is %s, waits for %v", got.State, got.From)
			}
			check(t, s.Advance(protocoltest.Deadline))
			stopped(t, s, protocoltest.Deadline, gone)
			check(t, s.Run())
			heard(t, s.Parties[0], s.Parties[2])

			gone.Away = false
			check(t, s.Run())
			if got := gone.Status().State; got != session.Failed || len(gone.Store.Secrets) > 0 {
				t.Errorf("the party that was away is %s, with %d bytes of secrets", got, len(gone.Store.Secrets))
			}
		})
	}
}

// Missing releases only cost their own rows if the others are a quorum; otherwise the study stops.
func TestReleasesMissingAtTheDeadline(t *testing.T) {
	for _, tc := range []struct {
		quorum int
		ends   session.State
	}{{2, session.Closed}, {3, session.Stopped}} {
		t.Run(fmt.Sprintf("quorum %d", tc.quorum), func(t *testing.T) {
			s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: tc.quorum}), Seed: 4})
			a, gone, c := s.Parties[0], s.Parties[1], s.Parties[2]
			check(t, s.RunUntil(func() bool { return gone.Status().State == session.Seeded }))
			gone.Away = true
			check(t, s.Run())
			if got := s.Aggregator.Status(); got.State != session.Collecting || !slices.Equal(got.From, []protocol.PeerID{gone.Signer.ID()}) {
				t.Fatalf("before the deadline the aggregator is %s, waits for %v", got.State, got.From)
			}
			check(t, s.Advance(protocoltest.Deadline))
			check(t, s.Run())
			if got := s.Aggregator.Status().State; got != tc.ends {
				t.Fatalf("the aggregator is %s", got)
			}
			gone.Away = false
			s.Now = protocoltest.Start // a slow clock
			check(t, s.Run())
			if got := gone.Status().State; got != session.Failed || len(gone.Store.Secrets) > 0 {
				t.Errorf("the party that was away is %s, with %d bytes of secrets", got, len(gone.Store.Secrets))
			}
			if tc.ends == session.Stopped {
				stopped(t, s, protocoltest.Deadline, gone)
				heard(t, a, gone, c)
				return
			}
			for _, p := range []*protocoltest.Party{a, c} {
				if got := p.Status(); got.State != session.Done {
					t.Errorf("%s is %s: %v", p.Name, got.State, got.Failure)
				}
			}
			r, err := wire.DecodeResult(s.Aggregator.Stored[len(s.Aggregator.Stored)-1].Payload())
			check(t, err)
			if len(r.Releases) != 2 || r.Completed {
				t.Errorf("a result of %d releases, completed: %v", len(r.Releases), r.Completed)
			}
		})
	}
}

// For a party whose release is not in the result, the result ends the study before its budget is
// spent, even if its clock is slow.
func TestNothingIsReleasedIntoAResult(t *testing.T) {
	s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2}), Seed: 4})
	slow := s.Parties[1]
	check(t, s.RunUntil(func() bool { return slow.Status().State == session.Confirmed }))
	check(t, s.RunUntil(func() bool { return len(slow.Store.Own) == 4 && countOf(s, protocol.KindConfirm) == 3 }))
	if slow.Status().State != session.Confirmed {
		t.Fatalf("%s is %s", slow.Name, slow.Status().State)
	}
	slow.Away = true
	check(t, s.Run())
	check(t, s.Advance(protocoltest.Deadline))
	check(t, s.Run())
	board := s.Aggregator.Board()
	s.Now = protocoltest.Start
	check(t, slow.Step(board.Stretch(len(slow.Store.Board), len(board.Envelopes))))
	if got := slow.Status(); got.State != session.Failed || !errors.Is(got.Failure, session.ErrLeftOut) {
		t.Errorf("%s is %s: %v", slow.Name, got.State, got.Failure)
	}
	if slow.Store.Release != nil || slow.T2 != (protocol.Digest{}) || len(slow.Store.Secrets) > 0 {
		t.Error("the party released, or kept its secrets")
	}
}

// By its own clock alone, without word from the aggregator, a party without a release gives up at
// the deadline: it makes nothing that it cannot use.
func TestPartyGivesUpAtTheDeadline(t *testing.T) {
	for _, tc := range []struct {
		at   session.State
		what string
	}{
		{session.Approved, "the roster"},
		{session.Committed, "the seed agreement"},
		{session.Shared, "the seed agreement"},
		{session.Confirmed, "the seed agreement"},
		{session.Seeded, "this party's release"},
	} {
		t.Run(string(tc.at), func(t *testing.T) {
			s := approved(t, protocoltest.Options{Seed: 4})
			p := s.Parties[0]
			check(t, s.RunUntil(func() bool { return p.Status().State == tc.at }))
			n := len(p.Store.Board)
			empty := protocoltest.Board{Study: s.Study.ID, Keeper: s.Aggregator.Signer, Envelopes: p.Store.Board}.Stretch(n, n)
			s.Now = protocoltest.Deadline - 1
			check(t, p.Step(empty))
			if got := p.Status().State; got != tc.at {
				t.Fatalf("a second before the deadline the party is %s", got)
			}
			s.Now = protocoltest.Deadline
			check(t, p.Step(empty))
			var deadline *session.DeadlineError
			if got := p.Status(); !errors.As(got.Failure, &deadline) || deadline.What != tc.what || deadline.Until != protocoltest.Deadline {
				t.Errorf("%s: %v", got.State, got.Failure)
			}
			if len(p.Store.Secrets) > 0 {
				t.Error("the party keeps its secrets")
			}
		})
	}
}

// A certificate that arrives at the deadline is too late to release under.
func TestNoReleaseIsMadeAfterTheDeadline(t *testing.T) {
	s := approved(t, protocoltest.Options{Seed: 4})
	p := s.Parties[0]
	check(t, s.RunUntil(func() bool { return countOf(s, protocol.KindConfirm) == 3 && p.Status().State == session.Confirmed }))
	board := s.Aggregator.Board()
	s.Now = protocoltest.Deadline
	check(t, p.Step(board.Stretch(len(p.Store.Board), len(board.Envelopes))))
	var deadline *session.DeadlineError
	if got := p.Status(); !errors.As(got.Failure, &deadline) || p.Store.Release != nil || len(p.Store.Secrets) > 0 {
		t.Errorf("%s: %v", got.State, got.Failure)
	}
}

// A release made in time may be sent again after the deadline: the aggregator refuses it or, if it
// had already arrived, says so.
func TestReleaseAfterTheDeadline(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Seed: 3})
	a, err := session.NewAggregator(session.AggregatorConfig{Study: f.study, Signer: f.board.Keeper})
	check(t, err)
	check(t, a.Restore(f.before(protocol.KindRelease).Envelopes))
	e := f.posted(0, protocol.KindRelease)
	if _, err := a.Step(session.Post{Envelope: e}); err != nil {
		t.Fatal(err)
	}
	_, err = a.Step(session.Tick{Now: protocoltest.Deadline})
	check(t, err)
	if _, err := a.Step(session.Post{Envelope: e}); !errors.Is(err, session.ErrPosted) {
		t.Errorf("a release that is there already: %v", err)
	}
	_, err = a.Step(session.Post{Envelope: f.posted(1, protocol.KindRelease)})
	blamed(t, err, f.party(1).ID(), session.ErrPremature)
}

// Nodes that were down at the deadline continue from what they have: a party that had released
// fetches its result, and an aggregator that had every release computes a result instead of
// stopping.
func TestRestartAfterTheDeadline(t *testing.T) {
	for _, state := range []session.State{session.Computing, session.Closed} {
		t.Run(string(state), func(t *testing.T) {
			s := approved(t, protocoltest.Options{Seed: 4})
			check(t, s.RunUntil(func() bool { return s.Aggregator.Status().State == state }))
			s.Now = protocoltest.Deadline + 1
			check(t, s.Restart())
			check(t, s.Run())
			finished(t, s)
		})
	}
}

// A party that finds the stop on its board after a restart reports the stop, although the deadline
// has passed too.
func TestRestartAfterAStop(t *testing.T) {
	s := approved(t, protocoltest.Options{Seed: 4})
	gone := s.Parties[1]
	check(t, s.RunUntil(func() bool { return gone.Status().State == session.Committed }))
	gone.Away = true
	check(t, s.Run())
	check(t, s.Advance(protocoltest.Deadline))
	check(t, s.Run())
	check(t, s.Restart())
	check(t, s.Run())
	heard(t, s.Parties[0], s.Parties[2])
}

func TestWithdrawalBeforeTheRoster(t *testing.T) {
	for _, tc := range []struct {
		quorum int
		ends   session.State
	}{{2, session.Closed}, {3, session.Stopped}} {
		t.Run(fmt.Sprintf("quorum %d", tc.quorum), func(t *testing.T) {
			s := simulate(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: tc.quorum})})
			a, b, c := s.Parties[0], s.Parties[1], s.Parties[2]
			check(t, a.Approve())
			check(t, s.Run())
			check(t, a.Withdraw())
			check(t, s.Run())
			check(t, b.Approve())
			check(t, c.Approve())
			check(t, s.Run())
			if got := a.Status(); got.State != session.Withdrawn || len(a.Store.Own) != 2 {
				t.Errorf("%s is %s with %d messages", a.Name, got.State, len(a.Store.Own))
			}
			if got := s.Aggregator.Status(); got.State != tc.ends {
				t.Fatalf("the aggregator is %s: %v", got.State, got.Failure)
			}
			if tc.ends == session.Stopped {
				stopped(t, s, protocoltest.Start)
				heard(t, b, c)
				return
			}
			for _, p := range []*protocoltest.Party{b, c} { // nobody waited until approvals expired
				if got := p.Status(); got.State != session.Done {
					t.Errorf("%s is %s: %v", p.Name, got.State, got.Failure)
				}
			}
		})
	}
}

// As long as a quorum of parties is left, the cause of a stop is the operator.
func TestCauseAfterWithdrawals(t *testing.T) {
	for withdrawn, want := range []session.StopCause{session.StopOperator, session.StopOperator, session.StopApprovals} {
		s := simulate(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Parties: 4, Quorum: 3})})
		for _, p := range s.Parties[:withdrawn] {
			check(t, p.Withdraw())
		}
		check(t, s.Run())
		if withdrawn < 2 { // otherwise it has already stopped
			check(t, s.Aggregator.Cancel("a mistake"))
		}
		check(t, s.Run())
		var stop *session.StoppedError
		if err := s.Aggregator.Status().Failure; !errors.As(err, &stop) || stop.Cause != want {
			t.Errorf("%d of 4 withdrew: %v, want the cause %s", withdrawn, err, want)
		}
	}
}

// A member may withdraw until it commits, even after approval has closed. The only attempt ends
// with it.
func TestWithdrawalAfterTheRoster(t *testing.T) {
	s := approved(t, protocoltest.Options{})
	a := s.Parties[0]
	check(t, s.RunUntil(func() bool { return countOf(s, protocol.KindRoster) == 1 && a.Status().State == session.Approved }))
	s.Now = protocoltest.Expires + 1
	check(t, a.Withdraw())
	check(t, s.Run())
	stopped(t, s, protocoltest.Expires+1)
	if got := a.Status().State; got != session.Withdrawn || a.Over != nil {
		t.Errorf("%s is %s: %v", a.Name, got, a.Over)
	}
	heard(t, s.Parties[1:]...)
}

func TestWithdrawalAfterTheCommitIsTooLate(t *testing.T) {
	s := approved(t, protocoltest.Options{})
	a := s.Parties[0]
	check(t, s.RunUntil(func() bool { return a.Status().State == session.Committed }))
	if err := a.Withdraw(); err == nil {
		t.Error("a committed party withdraws")
	}
	if len(a.Store.Own) != 2 {
		t.Errorf("%d own messages", len(a.Store.Own))
	}
}

// A party whose job cannot be done fails, and in the end so does the study. If the analyses fail,
// every party is told why.
func TestJobsThatFail(t *testing.T) {
	broken := errors.New("the disk is full")
	fails := func(node string) protocoltest.Options {
		return protocoltest.Options{Seed: 4, Outcome: func(n string, _ session.Job) error {
			if n == node {
				return broken
			}
			return nil
		}}
	}
	s := approved(t, fails("b"))
	check(t, s.Run())
	if got := s.Parties[1].Status(); !errors.Is(got.Failure, broken) || s.Parties[1].Store.Release != nil {
		t.Errorf("b is %s: %v", got.State, got.Failure)
	}
	check(t, s.Advance(protocoltest.Deadline))
	stopped(t, s, protocoltest.Deadline, s.Parties[1])

	s = approved(t, fails("aggregator"))
	check(t, s.Run())
	stopped(t, s, protocoltest.Start)
	heard(t, s.Parties...)
	says(t, s.Parties[0].Status().Failure, "the disk is full")
}
