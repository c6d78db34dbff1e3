package session_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wait"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// quorumTwo is a study of three that can continue with two.
func quorumTwo(t *testing.T) *fixture {
	return newFixture(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2}), Seed: 3})
}

// accusation is the aggregator's statement against party 0.
func (f *fixture) accusation(at protocol.Instant, cause protocol.Cause, kind protocol.Kind, evidence ...protocol.Verified) protocol.Verified {
	one := protocol.Accusation{Culprit: f.party(0).ID(), Cause: cause, Kind: kind}
	for _, e := range evidence {
		one.Evidence = append(one.Evidence, e.Envelope())
	}
	return f.sign(f.board.Keeper, protocol.KindFault, wire.EncodeAccusations(protocol.Accusations{At: at, Against: []protocol.Accusation{one}}))
}

// Everybody refuses an accusation of an honest party without evidence, with evidence of something
// else, too early, or contradicted by the board.
func TestFalseAccusations(t *testing.T) {
	f := quorumTwo(t)
	a, b := f.party(0), f.party(1)
	commit, share := f.posted(0, protocol.KindCommit), f.posted(0, protocol.KindShare)
	second := f.sign(a, protocol.KindCommit, []byte("junk"))
	other := newStudy(t, protocoltest.Terms{Nonce: 1})
	by := f.study.AgreeBy(1)
	nobody := protocol.Accusation{Culprit: protocoltest.Identity("stranger").ID(), Cause: protocol.CauseMissing, Kind: protocol.KindShare}
	for name, tc := range map[string]struct {
		at   protocol.Kind
		put  protocol.Verified
		says string
	}{
		"a message that is there is missing":   {protocol.KindShare, f.accusation(by, protocol.CauseMissing, protocol.KindCommit), "waits for share"},
		"a message that is not due is missing": {protocol.KindShare, f.accusation(by, protocol.CauseMissing, protocol.KindConfirm), "waits for share"},
		"before the time":                      {protocol.KindShare, f.accusation(by-1, protocol.CauseMissing, protocol.KindShare), "the attempt has until"},
		"a stranger":                           {protocol.KindShare, f.sign(f.board.Keeper, protocol.KindFault, wire.EncodeAccusations(protocol.Accusations{At: by, Against: []protocol.Accusation{nobody}})), "not on the roster"},
		"one message as two":                   {protocol.KindShare, f.accusation(by, protocol.CauseConflict, protocol.KindCommit, commit, commit), "one message twice"},
		"another's message":                    {protocol.KindShare, f.accusation(by, protocol.CauseConflict, protocol.KindCommit, commit, f.sign(b, protocol.KindCommit, []byte("junk"))), "evidence is commit"},
		"another attempt's message":            {protocol.KindShare, f.accusation(by, protocol.CauseConflict, protocol.KindCommit, commit, protocoltest.Sealed(a.Seal(f.study.ID, protocol.KindCommit, 2, []byte("junk")))), "evidence is commit"},
		"another study's message":              {protocol.KindShare, f.accusation(by, protocol.CauseConflict, protocol.KindCommit, commit, protocoltest.Sealed(a.Seal(other.ID, protocol.KindCommit, 1, []byte("junk")))), "evidence is commit"},
		"another kind's message":               {protocol.KindShare, f.accusation(by, protocol.CauseConflict, protocol.KindCommit, commit, f.sign(a, protocol.KindShare, []byte("junk"))), "evidence is share"},
		"a valid message as invalid":           {protocol.KindShare, f.accusation(by, protocol.CauseInvalid, protocol.KindShare, share), "does not prove the accusation: the message is valid"},
		"an invalid message as astray":         {protocol.KindShare, f.accusation(by, protocol.CauseDiffers, protocol.KindShare, f.sign(a, protocol.KindShare, []byte("junk"))), "does not prove the accusation: decoding"},
		"before there is a roster":             {protocol.KindRoster, f.accusation(by, protocol.CauseConflict, protocol.KindCommit, commit, second), "no roster of attempt 1"},
		"after the certificate":                {protocol.KindRelease, f.accusation(by, protocol.CauseConflict, protocol.KindCommit, commit, second), "attempt 1 gave the seed"},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			board := f.before(tc.at)
			err := f.atParty(2, board.With(len(board.Envelopes), tc.put))
			blamed(t, err, f.board.Keeper.ID(), nil)
			says(t, err, tc.says)
		})
	}
}

// After a valid accusation, a roster without the culprit must follow, and no other.
func TestRostersAfterAFault(t *testing.T) {
	f := quorumTwo(t)
	commit, second := f.posted(0, protocol.KindCommit), f.sign(f.party(0), protocol.KindCommit, []byte("junk"))
	a, b, c := f.posted(0, protocol.KindApprove).ID(), f.posted(1, protocol.KindApprove).ID(), f.posted(2, protocol.KindApprove).ID()
	shown := f.accusation(protocoltest.Start, protocol.CauseConflict, protocol.KindCommit, commit, second)
	board := f.before(protocol.KindShare)
	board = board.With(len(board.Envelopes), shown)
	roster := func(attempt uint32, approvals, faults []protocol.Digest) protocol.Verified {
		return protocoltest.Sealed(f.board.Keeper.Seal(f.study.ID, protocol.KindRoster, attempt, wire.EncodeRoster(protocol.Roster{Approvals: approvals, Faults: faults})))
	}
	by := []protocol.Digest{shown.ID()}
	for name, tc := range map[string]struct {
		put  protocol.Verified
		says string
	}{
		"with the culprit":        {roster(2, []protocol.Digest{a, b, c}, by), "without those removed"},
		"without an honest party": {roster(2, []protocol.Digest{a, b}, by), "without those removed"},
		"of too few":              {roster(2, []protocol.Digest{b}, by), "quorum is 2"},
		"without a reason":        {roster(2, []protocol.Digest{b, c}, nil), "must list all faults"},
		"for another reason":      {roster(2, []protocol.Digest{b, c}, []protocol.Digest{commit.ID()}), "must list all faults"},
		"of the attempt after":    {roster(3, []protocol.Digest{b, c}, by), "a roster of attempt 3"},
		"a second one for one":    {roster(1, []protocol.Digest{b, c}, by), "two different messages"},
		"of a fourth attempt":     {roster(4, []protocol.Digest{b, c}, by), "at most 3"},
		"as it must be":           {roster(2, []protocol.Digest{b, c}, by), ""},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			err := f.atParty(2, board.With(len(board.Envelopes), tc.put))
			if tc.says == "" {
				var fault *protocol.Fault
				if errors.As(err, &fault) {
					t.Errorf("refused: %v", err)
				}
				return
			}
			blamed(t, err, f.board.Keeper.ID(), nil)
			says(t, err, tc.says)
		})
	}
	f.t = t
	// The next roster must not come before the attempt is over.
	early := f.before(protocol.KindShare)
	blamed(t, f.atParty(2, early.With(len(early.Envelopes), roster(2, []protocol.Digest{b, c}, nil))), f.board.Keeper.ID(), session.ErrPremature)
	// A struck party is told by which fault.
	err := f.atParty(0, board.With(len(board.Envelopes), roster(2, []protocol.Digest{b, c}, by)))
	var struck *session.StruckError
	if !errors.As(err, &struck) || !struck.Removal.Proved || !errors.Is(err, session.ErrConflict) {
		t.Errorf("the struck party ends with %v", err)
	}
}

// A member that holds the certificate answers a later roster with it, continues to its release, and
// abandons nothing. A member that reads the answer in time is seeded, too.
func TestCertificateAnswersALaterRoster(t *testing.T) {
	s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2}), Seed: 3})
	a := s.Parties[0]
	check(t, s.RunUntil(func() bool { return a.Status().State == session.Seeded }))
	seen := len(a.Store.Board)
	board := s.Aggregator.Board()
	commit := slices.IndexFunc(board.Envelopes, func(e protocol.Verified) bool {
		return e.Kind() == protocol.KindCommit && e.Sender() == s.Parties[1].Signer.ID()
	})
	second := protocoltest.Sealed(s.Parties[1].Signer.Seal(s.Study.ID, protocol.KindCommit, 1, []byte("junk")))
	accused := protocoltest.Sealed(s.Aggregator.Signer.Seal(s.Study.ID, protocol.KindFault, 1, wire.EncodeAccusations(protocol.Accusations{At: s.Now, Against: []protocol.Accusation{{
		Culprit: s.Parties[1].Signer.ID(), Cause: protocol.CauseConflict, Kind: protocol.KindCommit,
		Evidence: []protocol.Envelope{board.Envelopes[commit].Envelope(), second.Envelope()},
	}}})))
	next := protocoltest.Sealed(s.Aggregator.Signer.Seal(s.Study.ID, protocol.KindRoster, 2, wire.EncodeRoster(protocol.Roster{Faults: []protocol.Digest{accused.ID()}})))
	check(t, a.Step(board.With(seen, accused, next).Stretch(seen, seen+2)))
	if got := a.Status(); got.State != session.Seeded {
		t.Fatalf("%s: %v", got.State, got.Failure)
	}
	var answer protocol.Verified
	for _, e := range a.Store.Own {
		if e.Kind() == protocol.KindAbandon {
			t.Error("a seeded party abandons its attempt")
		}
		if e.Kind() == protocol.KindCertificate {
			answer = e
		}
	}
	if answer.Attempt() != 1 {
		t.Fatal("the later roster was not answered")
	}

	// Party c saw the fault before the last confirmation; the certificate reaches it.
	f := &fixture{t: t, study: s.Study, board: board, parties: s.Parties}
	last := -1
	for i, e := range board.Envelopes {
		if e.Kind() == protocol.KindConfirm {
			last = i
		}
	}
	before := board.With(last, accused)
	err := f.atParty(2, before.With(len(before.Envelopes), answer))
	var fault *protocol.Fault
	if errors.As(err, &fault) {
		t.Errorf("the certificate is refused: %v", err)
	}
	short := wire.EncodeCertificate(protocol.Certificate{})
	err = f.atParty(2, before.With(len(before.Envelopes), f.sign(a.Signer, protocol.KindCertificate, short)))
	blamed(t, err, f.board.Keeper.ID(), nil)
	says(t, err, "0 confirmations")
}

// A party that confirmed an attempt which ended on the aggregator's word agrees to no other seed
// before all members of the next roster have abandoned that attempt. Otherwise a certificate of it
// could still turn up.
func TestAbandonmentsComeFirst(t *testing.T) {
	s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2}), Seed: 3})
	gone, b, c := s.Parties[0], s.Parties[1], s.Parties[2]
	check(t, s.RunUntil(func() bool { return len(gone.Store.Own) == 3 && countOf(s, protocol.KindShare) == 3 }))
	gone.Away, gone.Excused = true, true
	check(t, s.RunUntil(func() bool { return countOf(s, protocol.KindConfirm) == 2 }))
	c.Away = true
	check(t, s.Advance(s.Study.AgreeBy(1)))
	check(t, s.Run())
	last := b.Store.Own[len(b.Store.Own)-1]
	if got := b.Status(); last.Kind() != protocol.KindAbandon || got.State != session.Approved || got.WaitFor != wait.Abandons || !slices.Equal(got.From, []protocol.PeerID{c.Signer.ID()}) {
		t.Errorf("after its %s %s is %s, and waits for %s from %v", last.Kind(), b.Name, got.State, got.WaitFor, got.From)
	}
	c.Away = false
	check(t, s.Run())
	if countOf(s, protocol.KindResult) != 1 {
		t.Error("there is no result")
	}
	check(t, s.Check())
}

// Abandoning, complaining and certifying have their turn, too.
func TestWordsAboutFaultsHaveTheirTurn(t *testing.T) {
	f := quorumTwo(t)
	a := f.party(0)
	opening := wire.EncodeComplaint(agree.Opening{Key: make([]byte, 32)})
	for name, tc := range map[string]struct {
		at  protocol.Kind
		put protocol.Verified
	}{
		"abandoning what is under way":          {protocol.KindShare, f.sign(a, protocol.KindAbandon, nil)},
		"abandoning what was certified":         {protocol.KindRelease, f.sign(a, protocol.KindAbandon, nil)},
		"certifying what nobody doubts":         {protocol.KindRelease, f.sign(a, protocol.KindCertificate, nil)},
		"complaining before the shares":         {protocol.KindShare, f.sign(a, protocol.KindComplaint, opening)},
		"complaining of nothing, all confirmed": {protocol.KindRelease, f.sign(a, protocol.KindComplaint, opening)},
		"joining without late_until":            {protocol.KindRelease, f.sign(a, protocol.KindJoin, nil)},
		"closing before the result":             {protocol.KindRelease, f.sign(f.board.Keeper, protocol.KindClose, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			board := f.before(tc.at)
			if tc.put.Kind().FromParty() {
				blamed(t, f.atAggregator(board, tc.put), a.ID(), nil)
			} else {
				blamed(t, f.atParty(2, board.With(len(board.Envelopes), tc.put)), f.board.Keeper.ID(), session.ErrPremature)
			}
		})
	}
}

// No verb prints the secrets of an effect or a restored state.
func TestSecretsAreNotPrinted(t *testing.T) {
	s := approved(t, protocoltest.Options{Seed: 3})
	p := s.Parties[0]
	check(t, s.RunUntil(func() bool { return p.Status().State == session.Committed }))
	hidden := p.Store.Secrets[1]
	for _, value := range []any{
		session.SaveSecrets{Attempt: 1, Data: seed.Hide(hidden)}, session.Effects{Persist: []session.Record{session.SaveSecrets{Attempt: 1, Data: seed.Hide(hidden)}}},
		session.PartyRestored{Secrets: map[uint32]seed.Hidden{1: seed.Hide(hidden)}},
	} {
		noSecretIn(t, value, hidden)
	}
}

func noSecretIn(t *testing.T, value any, secret []byte) {
	t.Helper()
	for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%s", "%d"} {
		text := fmt.Sprintf(verb, value)
		for _, form := range []string{"%v", "%x", "%s"} {
			needle := strings.Trim(fmt.Sprintf(form, secret[40:72]), "[]")
			if strings.Contains(text, needle) {
				t.Errorf("%T prints its secret under %s", value, verb)
			}
		}
	}
}
