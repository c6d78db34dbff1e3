package session_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// bystander is a party that has already done its part and only reads: it can follow the board to
// its end.
func (f *fixture) bystander() *session.Party {
	f.t.Helper()
	own := f.board.Envelopes
	own = slices.DeleteFunc(slices.Clone(own), func(e protocol.Verified) bool { return e.Sender() != f.party(2).ID() })
	p, err := session.NewParty(session.PartyConfig{
		Study: f.study, Signer: f.party(2), Entropy: nothing{}, Restored: session.PartyRestored{Own: own},
	})
	check(f.t, err)
	return p
}

// Ways in which an aggregator can lie to one party that has read the first half of a board. The
// party fails, blames the aggregator, asks for nothing, and remains failed whatever it is shown
// afterwards.
func TestBoardThatMisbehaves(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Seed: 3})
	whole := f.board.Envelopes
	half := upTo(f.board, protocol.KindShare)
	swapped := slices.Clone(whole)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	rewritten := f.board
	rewritten.Envelopes = swapped
	stranger := f.board
	stranger.Keeper = protocoltest.Identity("stranger")
	other := f.board
	other.Study[0] ^= 1
	honest := f.board.Stretch(half, half+3)
	change := func(change func(*session.Board)) session.Board {
		b := honest
		b.Head.Signature = bytes.Clone(b.Head.Signature)
		change(&b)
		return b
	}
	later := upTo(f.board, protocol.KindConfirm)

	for name, tc := range map[string]struct {
		show session.Board
		want error
	}{
		"rewritten from its beginning":      {rewritten.All(), session.ErrBoardRewritten},
		"rewritten before what is new":      {rewritten.Stretch(half, half+3), session.ErrBoardRewritten},
		"forked: another next message":      {f.board.With(half, f.stop(), whole[half]).Stretch(half, half+2), session.ErrPremature},
		"truncated":                         {f.board.Stretch(0, half-1), session.ErrBoardRewritten},
		"truncated to nothing":              {f.board.Stretch(0, 0), session.ErrBoardRewritten},
		"with a gap":                        {f.board.Stretch(half+1, half+3), session.ErrBoardRewritten},
		"shown again from its beginning":    {f.board.Stretch(0, half), session.ErrBoardRewritten},
		"reordered":                         {f.board.With(half, whole[later], whole[half]).Stretch(half, half+2), session.ErrPremature},
		"with a message twice":              {f.board.With(half, whole[half], whole[half]).Stretch(half, half+2), session.ErrBoardRewritten},
		"with an old message again":         {f.board.With(half, whole[0]).Stretch(half, half+1), session.ErrBoardRewritten},
		"with fewer messages than it says":  {change(func(b *session.Board) { b.Envelopes = b.Envelopes[:2] }), session.ErrBoardRewritten},
		"with more messages than it says":   {change(func(b *session.Board) { b.Head = f.board.Head(half + 2) }), session.ErrBoardRewritten},
		"with the head of before":           {change(func(b *session.Board) { b.Envelopes, b.Head = nil, rewritten.Head(half) }), session.ErrBoardRewritten},
		"with a damaged signature":          {change(func(b *session.Board) { b.Head.Signature[9] ^= 1 }), protocol.ErrSignature},
		"without a signature":               {change(func(b *session.Board) { b.Head.Signature = nil }), protocol.ErrSignature},
		"signed by another":                 {stranger.Stretch(half, half+3), protocol.ErrSignature},
		"of another study":                  {other.Stretch(half, half+3), session.ErrBoardRewritten},
		"of another study, signed as ours":  {change(func(b *session.Board) { b.Head = other.Head(half + 3); b.Head.Study = f.study.ID }), protocol.ErrSignature},
		"with another study's message":      {f.board.With(half, protocoltest.Sealed(f.party(0).Seal(other.Study, protocol.KindShare, 1, whole[half].Payload()))).Stretch(half, half+1), nil},
		"with our message of another study": {f.board.With(half, protocoltest.Sealed(f.party(2).Seal(other.Study, protocol.KindApprove, 0, whole[0].Payload()))).Stretch(half, half+1), nil},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			p := f.bystander()
			_, err := p.Step(f.board.Stretch(0, half))
			check(t, err)
			if s := p.Status(); s.State == session.Failed {
				t.Fatalf("failed before the lie: %v", s.Failure)
			}
			for _, show := range []session.Board{tc.show, honest, f.board.All()} {
				effects, err := p.Step(show)
				check(t, err)
				if len(effects.Persist)+len(effects.Send)+len(effects.Run) > 0 {
					t.Errorf("the lie had effects %+v", effects)
				}
				if s := p.Status(); s.State != session.Failed {
					t.Fatalf("the party is %s", s.State)
				}
				blamed(t, p.Status().Failure, f.board.Keeper.ID(), tc.want)
			}
		})
	}

	p := f.bystander()
	for _, to := range [][2]int{{0, half}, {half, half + 3}, {half + 3, half + 3}, {half + 3, len(whole)}} {
		_, err := p.Step(f.board.Stretch(to[0], to[1]))
		check(t, err)
	}
	if s := p.Status(); s.State == session.Failed || p.Count() != uint64(len(whole)) {
		t.Errorf("the honest board leads to %s after %d messages: %v", s.State, p.Count(), s.Failure)
	}
}

// The head of another study's empty board is not a head of this one.
func TestEmptyBoardOfAnotherStudy(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Seed: 3})
	other := f.board.With(0)
	other.Study[0] ^= 1
	blamed(t, f.atParty(0, other), f.board.Keeper.ID(), session.ErrBoardRewritten)
	if err := f.atParty(0, f.board.With(0)); err != nil {
		t.Errorf("the empty board of this study: %v", err)
	}
}

// An aggregator that shows two parties their messages in different orders is detected when either
// confirms: the other holds another board.
func TestForkIsFoundWhenPartiesConfirm(t *testing.T) {
	s := simulate(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Parties: 2}), Seed: 3})
	keeper := s.Aggregator.Signer
	a, b := s.Parties[0], s.Parties[1]
	left := protocoltest.Board{Study: s.Study.ID, Keeper: keeper}
	right := left
	show := func(leftOrder, rightOrder []protocol.Verified) {
		t.Helper()
		from := len(left.Envelopes)
		left.Envelopes = append(left.Envelopes, leftOrder...)
		right.Envelopes = append(right.Envelopes, rightOrder...)
		check(t, a.Step(left.Stretch(from, len(left.Envelopes))))
		check(t, b.Step(right.Stretch(from, len(right.Envelopes))))
	}
	check(t, s.ApproveAll())
	last := func(p *protocoltest.Party) protocol.Verified { return p.Store.Own[len(p.Store.Own)-1] }
	approvals := []protocol.Verified{last(a), last(b)}
	roster := protocoltest.Sealed(keeper.Seal(s.Study.ID, protocol.KindRoster, 1, wire.EncodeRoster(protocol.Roster{Approvals: []protocol.Digest{last(a).ID(), last(b).ID()}})))
	show(append(slices.Clone(approvals), roster), []protocol.Verified{approvals[1], approvals[0], roster})
	for _, kind := range []protocol.Kind{protocol.KindCommit, protocol.KindShare} {
		both := []protocol.Verified{last(a), last(b)}
		if both[0].Kind() != kind || both[1].Kind() != kind {
			t.Fatalf("the parties signed %s and %s, not %s", both[0].Kind(), both[1].Kind(), kind)
		}
		show(both, both)
	}
	both := []protocol.Verified{last(a), last(b)}
	show(both, both)
	for _, p := range s.Parties {
		blamed(t, p.Status().Failure, keeper.ID(), session.ErrBoards)
		if p.Store.Release != nil || p.T2 != (protocol.Digest{}) {
			t.Errorf("%s released on a forked board", p.Name)
		}
	}
}

// If the board shows an own message that the store lacks, the store was rolled back, and nobody
// else is to blame.
func TestRolledBackStore(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Seed: 3})
	var own []protocol.Verified
	for _, e := range f.board.Envelopes {
		if e.Sender() == f.party(0).ID() {
			own = append(own, e)
		}
	}
	for kept := range own {
		p, err := session.NewParty(session.PartyConfig{
			Study: f.study, Signer: f.party(0), Entropy: nothing{}, Restored: session.PartyRestored{Own: own[:kept]},
		})
		check(t, err)
		effects, err := p.Step(f.board.All())
		check(t, err)
		var fault *protocol.Fault
		if s := p.Status(); s.State != session.Failed || !errors.Is(s.Failure, session.ErrRolledBack) || errors.As(s.Failure, &fault) {
			t.Errorf("with %d of %d own messages: %s, %v", kept, len(own), s.State, s.Failure)
		}
		if len(effects.Persist)+len(effects.Send)+len(effects.Run) > 0 {
			t.Errorf("with %d of %d own messages: effects %+v", kept, len(own), effects)
		}
	}

	// A message of the same kind with other contents is not ours either.
	other := f.sign(f.party(0), protocol.KindApprove, []byte("junk"))
	p, err := session.NewParty(session.PartyConfig{Study: f.study, Signer: f.party(0), Entropy: nothing{}, Restored: session.PartyRestored{Own: own}})
	check(t, err)
	_, err = p.Step(f.board.With(0, other).All())
	check(t, err)
	if err := p.Status().Failure; !errors.Is(err, session.ErrRolledBack) {
		t.Errorf("another approval of ours: %v", err)
	}
}

// Only members notice a confirmation under another seed. They name its sender, which its own proof
// convicts, and release nothing.
func TestConfirmationUnderAnotherSeed(t *testing.T) {
	s := approved(t, protocoltest.Options{Seed: 3})
	liar := s.Parties[0]
	check(t, s.RunUntil(func() bool {
		return countOf(s, protocol.KindShare) == 3 && liar.Store.Release == nil && len(liar.Store.Own) == 4
	}))
	c, err := wire.DecodeConfirm(liar.Store.Own[3].Payload())
	check(t, err)
	c.Tag[0] ^= 1
	check(t, s.Aggregator.Post(protocoltest.Sealed(liar.Signer.Seal(s.Study.ID, protocol.KindConfirm, 1, wire.EncodeConfirm(c)))))
	check(t, s.Run())
	for _, p := range s.Parties[1:] {
		var stop *session.StoppedError
		if err := p.Status().Failure; !errors.As(err, &stop) {
			t.Fatalf("%s ends with %v", p.Name, err)
		}
		culprits := p.Status().Blame
		if len(culprits) != 1 || culprits[0].Node != liar.Signer.ID() || culprits[0].Standing != session.Proved || !errors.Is(culprits[0].Err, agree.ErrConfirmTag) {
			t.Errorf("%s blames %+v", p.Name, culprits)
		}
		var d *protocol.Disagreement
		if !errors.As(stop, &d) || d.On != protocol.OnSeed || d.Who != liar.Name || d.Theirs == d.Ours || d.From != p.Name {
			t.Errorf("%s does not say who differs: %v", p.Name, d)
		} else if !strings.Contains(d.Error(), "has released nothing") || strings.Contains(d.Error(), "it released") {
			t.Errorf("a party that released nothing: %v", d)
		}
		if p.Store.Release != nil {
			t.Errorf("%s released without a certificate", p.Name)
		}
	}
	if err := liar.Status().Failure; !errors.Is(err, session.ErrRolledBack) && liar.Over == nil {
		t.Errorf("the liar goes on: %s", liar.Status().State)
	}
}

func countOf(s *protocoltest.Simulation, kind protocol.Kind) int {
	n := 0
	for _, e := range s.Aggregator.Stored {
		if e.Kind() == kind {
			n++
		}
	}
	return n
}

// Once certain, a party is seeded for good. A second, contradicting message of the agreement does
// not end the study, even when the board is read again after a restart.
func TestFaultsAfterTheCertificateAreIgnored(t *testing.T) {
	for _, state := range []session.State{session.Seeded, session.Sketched, session.Released} {
		t.Run(string(state), func(t *testing.T) {
			s := approved(t, protocoltest.Options{Seed: 3})
			a := s.Parties[0]
			check(t, s.RunUntil(func() bool { return a.Status().State == state }))
			seen := len(a.Store.Board)
			board := s.Aggregator.Board().With(seen,
				protocoltest.Sealed(s.Parties[1].Signer.Seal(s.Study.ID, protocol.KindShare, 1, []byte("junk"))), // a second, different share
				a.Store.Board[upTo(s.Aggregator.Board(), protocol.KindConfirm)])                                  // a confirmation again
			check(t, a.Step(board.Stretch(seen, seen+2)))
			if n := len(a.Store.Board); n != seen+2 {
				t.Errorf("the stored board has %d messages of %d", n, seen+2)
			}
			if got := a.Status(); got.State != state {
				t.Errorf("%s: %v", got.State, got.Failure)
			}
			check(t, s.Restart())
			if got := a.Status(); got.State == session.Failed {
				t.Errorf("after a restart: %v", got.Failure)
			}
		})
	}
}

// Events that cannot happen are refused and change nothing.
func TestImpossibleEvents(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Seed: 3})
	a, err := session.NewAggregator(session.AggregatorConfig{Study: f.study, Signer: f.board.Keeper})
	check(t, err)
	check(t, a.Restore(f.before(protocol.KindRelease).Envelopes))
	for _, ev := range []session.AggregatorEvent{
		nil, session.Collected{Party: f.party(0).ID()}, session.Computed{}, session.JobFailed{Err: errors.New("of no job")},
	} {
		before := a.Head()
		effects, err := a.Step(ev)
		if err == nil || len(effects.Persist)+len(effects.Run) > 0 || a.Head().Count != before.Count {
			t.Errorf("%T: %v, effects %+v", ev, err, effects)
		}
	}
	if got := a.Status().State; got != session.Collecting {
		t.Errorf("the aggregator is %s", got)
	}
	if _, err := f.bystander().Step(nil); err == nil {
		t.Error("a party takes no event for one")
	}
	stored := f.board.With(3, f.board.Envelopes[9])
	fresh, err := session.NewAggregator(session.AggregatorConfig{Study: f.study, Signer: f.board.Keeper})
	check(t, err)
	if err := fresh.Restore(stored.Envelopes); err == nil {
		t.Error("a damaged stored board is restored")
	}
}
