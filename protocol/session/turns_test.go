package session_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/turn"
	"github.com/cosketch/cosketch/protocol/wire"
)

// inPhases returns a study and a board for each possible phase of attempt 1.
func inPhases(t *testing.T) map[turn.Phase]*fixture {
	day := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2, Late: true}), Seed: 3})
	check(t, day.Run())
	late := &fixture{t: t, study: day.Study, board: day.Aggregator.Board(), parties: day.Parties}
	cut := func(f *fixture, board protocoltest.Board) *fixture {
		return &fixture{t: t, study: f.study, board: board, parties: f.parties}
	}
	second := late.sign(late.party(0), protocol.KindCommit, []byte("junk"))
	over := late.before(protocol.KindShare)
	over = over.With(len(over.Envelopes), late.accusation(protocoltest.Start, protocol.CauseConflict, protocol.KindCommit, late.posted(0, protocol.KindCommit), second))
	doubtful := late.before(protocol.KindConfirm)
	doubtful = doubtful.With(len(doubtful.Envelopes), late.accusation(late.study.AgreeBy(1), protocol.CauseMissing, protocol.KindConfirm))

	lost := lostAtTheEnd(t, 3, true)
	check(t, lost.Advance(lost.Study.AgreeBy(1)))
	void := lost.Aggregator.Board()
	void = void.With(upTo(void, protocol.KindFault) + 1)

	again := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2, Late: true}), Seed: 6})
	check(t, again.RunUntil(func() bool { return again.Aggregator.Status().State == session.Agreeing }))
	check(t, again.Parties[0].Withdraw())
	check(t, again.RunUntil(func() bool { return again.Aggregator.Status().State == session.Collecting }))
	elsewhere := again.Aggregator.Board()
	elsewhere = elsewhere.With(upTo(elsewhere, protocol.KindConfirm) + 2)

	rounds := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2, Rounds: true}), Seed: 3})
	check(t, rounds.Run())
	two := &fixture{t: t, study: rounds.Study, board: rounds.Aggregator.Board(), parties: rounds.Parties}

	return map[turn.Phase]*fixture{
		turn.NoRoster:   cut(late, late.board.With(0)),
		turn.Committing: cut(late, late.before(protocol.KindCommit)),
		turn.Sharing:    cut(late, late.before(protocol.KindShare)),
		turn.Confirming: cut(late, late.before(protocol.KindConfirm)),
		turn.Certified:  cut(late, late.before(protocol.KindRelease)),
		turn.FirstRound: cut(two, two.before(protocol.KindFirst)),
		turn.HasResult:  cut(late, late.before(protocol.KindClose)),
		turn.Over:       cut(late, over),
		turn.Unproved:   cut(late, doubtful),
		turn.Void:       {t: t, study: lost.Study, board: void, parties: lost.Parties},
		turn.Elsewhere:  {t: t, study: again.Study, board: elsewhere, parties: again.Parties},
		turn.Ended:      late,
	}
}

// Both machines follow the table, for every kind in every phase. A board takes messages whose turn
// it is, and says of all others whether they came too early or too late. A party sends only own
// messages whose turn it is on the board that it holds.
func TestTurnsDriveTheMachines(t *testing.T) {
	boards := inPhases(t)
	tried := map[turn.Turn]int{}
	for i, phase := range turn.Phases() {
		f := boards[phase]
		for _, row := range turn.Rows() {
			newcomers := row.Kind == protocol.KindJoin || row.Kind == protocol.KindWelcome || row.Kind == protocol.KindJoined
			if newcomers && f.study.LateUntil == 0 {
				continue
			}
			want := row.In[i]
			if phase == turn.Elsewhere && (row.Kind.PreAttempt() || row.Kind == protocol.KindStop || row.Kind == protocol.KindClose) {
				continue // they concern the attempt that gave the seed
			}
			e, fills := f.unposted(row.Kind)
			if !fills {
				continue // all slots are full: any other message is a conflict
			}
			tried[want]++
			a, err := session.NewAggregator(session.AggregatorConfig{Study: f.study, Signer: f.board.Keeper})
			check(t, err)
			err = a.Restore(append(f.board.Envelopes[:len(f.board.Envelopes):len(f.board.Envelopes)], e))
			early := errors.Is(err, session.ErrPremature) && !errors.Is(err, session.ErrPassed)
			switch {
			case errors.Is(err, session.ErrConflict) || err == nil:
				t.Errorf("%s, %s: %v", phase, row.Kind, err)
			case want == turn.Late && !errors.Is(err, session.ErrPassed),
				want == turn.Early && !early,
				want == turn.Takes && (errors.Is(err, session.ErrPassed) || early && row.Kind != protocol.KindJoined):
				t.Errorf("%s, %s should be %q: %v", phase, row.Kind, want, err)
			}
			if row.Kind.FromAggregator() || want == turn.Takes {
				continue
			}
			if f.sends(e) {
				t.Errorf("%s: a party sends its %s, which is %s", phase, row.Kind, want)
			}
		}
	}
	if tried[turn.Takes] < 40 || tried[turn.Early] < 40 || tried[turn.Late] < 40 {
		t.Errorf("tried %v", tried)
	}
}

// A release that comes after a proof has ended its attempt is refused for that reason, and not
// because confirmations are missing: all of them are there.
func TestReleaseOfAnAttemptThatIsOver(t *testing.T) {
	s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2}), Seed: 3})
	liar := s.Parties[0]
	check(t, s.RunUntil(func() bool { return countOf(s, protocol.KindShare) == 3 && len(liar.Store.Own) == 4 }))
	c, err := wire.DecodeConfirm(liar.Store.Own[3].Payload())
	check(t, err)
	c.Tag[0] ^= 1
	check(t, s.Aggregator.Post(protocoltest.Sealed(liar.Signer.Seal(s.Study.ID, protocol.KindConfirm, 1, wire.EncodeConfirm(c)))))
	liar.Away, liar.Excused = true, true
	check(t, s.RunUntil(func() bool { return upTo(s.Aggregator.Board(), protocol.KindComplaint) < len(s.Aggregator.Stored) }))
	err = s.Aggregator.Post(protocoltest.Sealed(liar.Signer.Seal(s.Study.ID, protocol.KindRelease, 1, []byte("junk"))))
	if !errors.Is(err, session.ErrPassed) || !strings.Contains(err.Error(), "attempt 1 is over") {
		t.Errorf("a release of an attempt that is over: %v", err)
	}
}

// unposted returns a message of attempt 1 that is not on the board, for a free slot.
func (f *fixture) unposted(kind protocol.Kind) (protocol.Verified, bool) {
	senders := []protocol.Signer{f.board.Keeper}
	if kind.FromParty() {
		senders = senders[:0]
		for i := range f.parties {
			senders = append(senders, f.party(i))
		}
	}
	slices.Reverse(senders)
	for _, by := range senders {
		full := slices.ContainsFunc(f.board.Envelopes, func(e protocol.Verified) bool {
			return e.Sender() == by.ID() && e.Kind() == kind && e.Attempt() < 2 && kind != protocol.KindResult && kind != protocol.KindWelcome
		})
		if !full {
			return f.sign(by, kind, []byte("junk")), true
		}
	}
	return protocol.Verified{}, false
}

// sends reports whether a party that has signed an envelope and holds this board sends it.
func (f *fixture) sends(e protocol.Verified) bool {
	f.t.Helper()
	restored := session.PartyRestored{Own: []protocol.Verified{e}}
	signer := f.party(0)
	for i, p := range f.parties {
		if p.Signer.ID() == e.Sender() {
			signer = f.party(i)
		}
	}
	for _, own := range f.board.Envelopes {
		if own.Sender() == e.Sender() {
			restored.Own = append(restored.Own, own)
		}
	}
	p, err := session.NewParty(session.PartyConfig{Study: f.study, Signer: signer, Entropy: nothing{}, Restored: restored})
	check(f.t, err)
	board := f.board.All()
	board.Stored = true // it does not act yet, only sends what it has
	effects, err := p.Step(board)
	check(f.t, err)
	return slices.ContainsFunc(effects.Send, func(sent protocol.Verified) bool { return sent.ID() == e.ID() })
}
