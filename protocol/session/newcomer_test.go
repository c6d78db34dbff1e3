package session_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// joinedLate is a study of four with public row keys, which d joined after the others had agreed.
func joinedLate(t *testing.T) *fixture {
	t.Helper()
	s := simulate(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Parties: 4, Quorum: 3, Late: true, Public: true}), Seed: 8})
	for _, p := range s.Parties {
		p.Welcome = func(protocol.PeerID) bool { return true }
	}
	check(t, s.Restart()) // the site file is read at the start
	for _, p := range s.Parties[:3] {
		check(t, p.Approve())
	}
	check(t, s.Run())
	check(t, s.Advance(protocoltest.Expires))
	check(t, s.Run())
	check(t, s.Parties[3].Approve())
	check(t, s.Run())
	return &fixture{t: t, study: s.Study, board: s.Aggregator.Board(), parties: s.Parties}
}

// One member welcomes two newcomers of one study.
func TestMembersWelcomeTwo(t *testing.T) {
	s := simulate(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Parties: 5, Quorum: 3, Late: true, Public: true}), Seed: 8})
	for _, p := range s.Parties {
		p.Welcome = func(protocol.PeerID) bool { return true }
	}
	check(t, s.Restart())
	for _, p := range s.Parties[:3] {
		check(t, p.Approve())
	}
	check(t, s.Run())
	check(t, s.Advance(protocoltest.Expires))
	check(t, s.Run())
	for _, p := range s.Parties[3:] {
		check(t, p.Approve())
		check(t, s.Run())
	}
	welcomes := map[protocol.PeerID]int{}
	for _, e := range s.Aggregator.Stored {
		if e.Kind() == protocol.KindWelcome {
			welcomes[e.Sender()]++
		}
	}
	for _, p := range s.Parties {
		if p.Status().State != session.Done {
			t.Errorf("%s is %s: %v", p.Name, p.Status().State, p.Status().Failure)
		}
	}
	a, err := session.NewAggregator(session.AggregatorConfig{Study: s.Study, Signer: s.Aggregator.Signer})
	check(t, err)
	if _, ok := a.Result(); ok {
		t.Error("there is a result before the board is read")
	}
	check(t, a.Restore(s.Aggregator.Stored))
	if r, ok := a.Result(); !ok || len(r.Releases) != 5 {
		t.Errorf("a result of %d releases", len(r.Releases))
	}
	if most := slices.Max(slices.Collect(maps.Values(welcomes))); most != 2 {
		t.Errorf("no member welcomed both: %v", welcomes)
	}
}

// A newcomer proves what members have confirmed: the same transcripts, board and public row keys.
func TestNewcomersProveTheSameSeed(t *testing.T) {
	f := joinedLate(t)
	b, honest := f.before(protocol.KindJoined), f.posted(3, protocol.KindJoined)
	joined := func(change func(*protocol.Confirm)) protocol.Verified {
		c, err := wire.DecodeConfirm(honest.Payload())
		check(t, err)
		c.Published = slices.Clone(c.Published)
		change(&c)
		return f.sign(f.party(3), protocol.KindJoined, wire.EncodeConfirm(c))
	}
	if err := f.atAggregator(b, joined(func(*protocol.Confirm) {})); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*protocol.Confirm)
		want   error
	}{
		"another key":   {func(c *protocol.Confirm) { c.Published[1][3] ^= 1 }, agree.ErrPublished},
		"one key":       {func(c *protocol.Confirm) { c.Published = c.Published[:1] }, agree.ErrPublished},
		"no key":        {func(c *protocol.Confirm) { c.Published = nil }, agree.ErrPublished},
		"another seed":  {func(c *protocol.Confirm) { c.T2[0] ^= 1 }, agree.ErrTranscript},
		"another board": {func(c *protocol.Confirm) { c.Chain[0] ^= 1 }, session.ErrBoards},
	} {
		if err := f.atAggregator(b, joined(c.change)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// A party on no roster takes no part in the agreement: all it posts there is refused, and ends
// nothing.
func TestStrangersToTheRoster(t *testing.T) {
	f := joinedLate(t)
	for kind, before := range map[protocol.Kind]protocol.Kind{
		protocol.KindCommit: protocol.KindCommit, protocol.KindShare: protocol.KindShare, protocol.KindConfirm: protocol.KindConfirm,
		protocol.KindComplaint: protocol.KindConfirm, protocol.KindRelease: protocol.KindRelease,
	} {
		payload := []byte("junk")
		if kind != protocol.KindComplaint {
			payload = f.posted(0, kind).Payload()
		}
		err := f.atAggregator(f.before(before), f.sign(f.party(3), kind, payload))
		if err == nil || !strings.Contains(err.Error(), "roster") || f.ended != "" {
			t.Errorf("a %s of a party that is on no roster: %v (%s)", kind, err, f.ended)
		}
	}
}

// A stored welcome is sent before late_until, but not at it, when nobody would take it.
func TestWelcomesGoInTime(t *testing.T) {
	f := joinedLate(t)
	board := f.before(protocol.KindWelcome)
	at := slices.IndexFunc(f.board.Envelopes, func(e protocol.Verified) bool { return e.Kind() == protocol.KindWelcome })
	welcome := f.board.Envelopes[at]
	who := slices.IndexFunc(f.parties, func(p *protocoltest.Party) bool { return p.Signer.ID() == welcome.Sender() })
	for now, want := range map[protocol.Instant]bool{protocoltest.LateUntil - 1: true, protocoltest.LateUntil: false} {
		restored := session.PartyRestored{Own: []protocol.Verified{welcome}}
		for _, own := range board.Envelopes {
			if own.Sender() == welcome.Sender() {
				restored.Own = append(restored.Own, own)
			}
		}
		p, err := session.NewParty(session.PartyConfig{Study: f.study, Signer: f.party(who), Entropy: nothing{}, Restored: restored})
		check(t, err)
		_, err = p.Step(session.Tick{Now: now})
		check(t, err)
		stored := board.All()
		stored.Stored = true // it does not act yet, only sends what it has
		effects, err := p.Step(stored)
		check(t, err)
		sent := slices.ContainsFunc(effects.Send, func(e protocol.Verified) bool { return e.ID() == welcome.ID() })
		if sent != want {
			t.Errorf("at %s its welcome goes out: %v", now, sent)
		}
	}
}
