package session_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wait"
	"github.com/cosketch/cosketch/protocol/wire"
)

// A study of two rounds reaches its result, plain and masked.
func TestTwoRounds(t *testing.T) {
	for name, terms := range map[string]protocoltest.Terms{
		"plain": {Quorum: 2, Rounds: true}, "masked": {Quorum: 2, Rounds: true, Masked: true}, "with a look": {Quorum: 2, Rounds: true, Masked: true, Looks: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := approved(t, protocoltest.Options{Study: newStudy(t, terms), Seed: 3})
			used := func(want int) {
				t.Helper()
				a, err := session.NewAggregator(session.AggregatorConfig{Study: s.Study, Signer: s.Aggregator.Signer})
				check(t, err)
				check(t, a.Restore(s.Aggregator.Stored))
				if got := len(a.Used()); got != want {
					t.Errorf("%d first rounds are used, want %d", got, want)
				}
			}
			used(0)
			check(t, s.RunUntil(func() bool { return s.Aggregator.Status().State == session.Collecting }))
			used(0)
			check(t, s.Run())
			used(3)
			for _, p := range s.Parties {
				if got := p.Status().State; got != session.Done || p.Debits != 2 {
					t.Errorf("%s is %s after %d debits", p.Name, got, p.Debits)
				}
			}
			if f := s.Aggregator.Status().Failure; f != nil {
				t.Error(f)
			}
			check(t, s.Check())
		})
	}
}

// heldToRules lists changes to the interim of a finished study. Each is restored by an aggregator.
type heldToRules map[string]struct {
	change func(*protocol.Interim)
	says   string // empty: the interim is valid
}

func (cases heldToRules) check(t *testing.T, terms protocoltest.Terms) {
	s := approved(t, protocoltest.Options{Study: newStudy(t, terms), Seed: 3})
	check(t, s.Run())
	f := &fixture{t: t, study: s.Study, board: s.Aggregator.Board(), parties: s.Parties}
	own, err := wire.DecodeInterim(f.board.Envelopes[upTo(f.board, protocol.KindInterim)].Payload())
	check(t, err)
	before := f.before(protocol.KindInterim)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			i := own
			i.Firsts = slices.Clone(own.Firsts)
			i.Codebook.Centre = slices.Clone(own.Codebook.Centre)
			i.Clips, i.Moves = slices.Clone(own.Clips), slices.Clone(own.Moves)
			c.change(&i)
			e := protocoltest.Sealed(f.board.Keeper.Seal(s.Study.ID, protocol.KindInterim, 1, wire.EncodeInterim(i)))
			board := append(before.Envelopes[:len(before.Envelopes):len(before.Envelopes)], e)
			a, err := session.NewAggregator(session.AggregatorConfig{Study: s.Study, Signer: f.board.Keeper})
			check(t, err)
			err = a.Restore(board)
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			if c.says == "" && name != "as it should be" {
				again := protocoltest.Sealed(f.board.Keeper.Seal(s.Study.ID, protocol.KindInterim, 1, wire.EncodeInterim(own)))
				if err := a.Restore([]protocol.Verified{again}); !errors.Is(err, session.ErrConflict) {
					t.Errorf("a second interim: %v", err)
				}
			}
		})
	}
}

// Rules for an interim. An interim that breaks one is the aggregator's fault.
func TestInterimIsHeldToItsRules(t *testing.T) {
	heldToRules{
		"as it should be":      {func(*protocol.Interim) {}, ""},
		"of some":              {func(i *protocol.Interim) { i.Firsts = i.Firsts[1:] }, ""},
		"of too few":           {func(i *protocol.Interim) { i.Firsts = i.Firsts[:1] }, "the quorum is 2"},
		"of another order":     {func(i *protocol.Interim) { slices.Reverse(i.Firsts) }, "not on the board, or names them in another order"},
		"of one twice":         {func(i *protocol.Interim) { i.Firsts[1] = i.Firsts[0] }, "not on the board, or names them in another order"},
		"of nobody's":          {func(i *protocol.Interim) { i.Firsts[1][0] ^= 1 }, "not on the board, or names them in another order"},
		"of another agreement": {func(i *protocol.Interim) { i.T2[0] ^= 1 }, "agreement T2"},
		"without a radius":     {func(i *protocol.Interim) { i.Codebook.Radius = 0 }, "radius 0"},
		"with a huge radius":   {func(i *protocol.Interim) { i.Codebook.Radius = 1 << 40 }, "radius 1099511627776"},
		"of a far centre":      {func(i *protocol.Interim) { i.Codebook.Centre[0] = 1 << 30 }, "centre"},
		"of other columns":     {func(i *protocol.Interim) { i.Codebook.Centre, i.Codebook.Axes = []int64{0}, [][]int64{{1}} }, "centre of 1 entries for 2 columns"},
		"with clips":           {func(i *protocol.Interim) { i.Codebook, i.Clips = sketch.Codebook{}, []int64{300} }, "it has clips or moves, but the study uses a codebook"},
	}.check(t, protocoltest.Terms{Quorum: 2, Rounds: true})
}

// Rules for an interim that says how moments are moved and clipped.
func TestInterimOfMomentsIsHeldToItsRules(t *testing.T) {
	heldToRules{
		"as it should be":         {func(*protocol.Interim) {}, ""},
		"another of its clips":    {func(i *protocol.Interim) { i.Clips[0] = newStudy(t, pooledTerms).ClipEdges(1)[0] }, ""},
		"moved within its bounds": {func(i *protocol.Interim) { i.Moves[0].Centre-- }, ""},
		"a clip that is no edge":  {func(i *protocol.Interim) { i.Clips[0]++ }, "is not one of the study's clips"},
		"two clips":               {func(i *protocol.Interim) { i.Clips = append(i.Clips, i.Clips[0]) }, "2 clips, but the second round has 1 sketches"},
		"of some":                 {func(i *protocol.Interim) { i.Firsts = i.Firsts[1:] }, "masks cancel only in the sum of all"},
		"without moves":           {func(i *protocol.Interim) { i.Moves = nil }, "moves for 0 entries, want 2"},
		"without a spread":        {func(i *protocol.Interim) { i.Moves[0].Spread = 0 }, "entry 1 is moved by"},
		"of a huge spread":        {func(i *protocol.Interim) { i.Moves[0].Spread = 1 << 40 }, "scaled by 1099511627776"},
		"moved out of its bounds": {func(i *protocol.Interim) { i.Moves[0].Centre = 1 << 30 }, "entry 1 is moved by 1073741824"},
		"a bit that is scaled":    {func(i *protocol.Interim) { i.Moves[1].Spread++ }, "entry 2 is moved by"},
		"a codebook": {func(i *protocol.Interim) {
			i.Clips, i.Moves, i.Codebook = nil, nil, sketch.Codebook{Centre: []int64{0}, Axes: [][]int64{{1}}, Codes: [][]int64{{1}, {2}}, Radius: 2}
		}, "it has a codebook, but the study uses clips"},
	}.check(t, pooledTerms)
}

var pooledTerms = protocoltest.Terms{Quorum: 2, Rounds: true, Masked: true, Looks: true}

// If the aggregator is silent between the rounds, the study ends at its deadline, and nothing more
// was spent.
func TestSilentBetweenRounds(t *testing.T) {
	s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2, Rounds: true}), Seed: 3})
	s.Outcome = func(_ string, job session.Job) error {
		if c, ok := job.(session.Compute); ok && c.Between() {
			return errors.New("no answer")
		}
		return nil
	}
	check(t, s.Run())
	for _, p := range s.Parties {
		if got := p.Status(); got.State != session.Failed || p.Debits != 1 {
			t.Errorf("%s is %s after %d debits", p.Name, got.State, p.Debits)
		}
	}
}

// A party that is late for the interim is left out, and the others continue.
func TestLateForTheInterim(t *testing.T) {
	s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2, Rounds: true}), Seed: 3})
	slow := s.Parties[1]
	check(t, s.RunUntil(func() bool { return slow.Status().State == session.Seeded }))
	slow.Away, slow.Excused = true, true
	check(t, s.Run())
	check(t, s.Advance(s.Study.FirstBy()))
	check(t, s.Run())
	if n := countOf(s, protocol.KindResult); n != 1 {
		t.Errorf("%d results", n)
	}
	slow.Away = false
	check(t, s.Run())
	if got := slow.Status(); got.State != session.Failed || !errors.Is(got.Failure, session.ErrLeftOut) || slow.Debits > 1 {
		t.Errorf("the late one is %s for %v, after %d debits", got.State, got.Failure, slow.Debits)
	}
	check(t, s.Check())
}

// A party that has posted its first round waits for those that have not, by name, until others may
// continue without them. Tried with one and two missing.
func TestFirstsThatAreAwaited(t *testing.T) {
	for missing := 1; missing <= 2; missing++ {
		s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Parties: 5, Quorum: 3, Rounds: true}), Seed: 7})
		var absent []protocol.PeerID
		check(t, s.RunUntil(func() bool {
			for _, p := range s.Parties[5-missing:] {
				if got := p.Status(); got.WaitFor == wait.First && !p.Away {
					p.Away, p.Excused = true, true
					absent = append(absent, got.From...)
				}
			}
			return false
		}))
		got := s.Parties[0].Status()
		if got.State != session.Halfway || got.WaitFor != wait.Firsts || !slices.Equal(got.From, slices.SortedFunc(slices.Values(absent), protocol.PeerID.Compare)) || got.Until != s.Study.FirstBy() {
			t.Errorf("%d missing: %+v, want those of %v until %s", missing, got, absent, s.Study.FirstBy())
		}
	}
}

// If a member is lost in the first round of a masked study, the others agree anew and pay for
// another first round. If one is lost in the second round, they also pay for the first round once
// more.
func TestLostInARound(t *testing.T) {
	for _, kind := range []protocol.Kind{protocol.KindFirst, protocol.KindRelease} {
		s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Parties: 4, Quorum: 3, Masked: true, Rounds: true}), Seed: 5})
		lost := s.Parties[3]
		lost.Away = false
		check(t, s.RunUntil(func() bool {
			return lost.Status().State == session.Seeded && kind == protocol.KindFirst || countOf(s, protocol.KindInterim) == 1
		}))
		lost.Away, lost.Excused = true, true
		check(t, s.Run())
		check(t, s.Advance(s.Study.AgreeBy(1)))
		check(t, s.Run())
		check(t, s.Check())
		debits := map[protocol.Kind]int{protocol.KindFirst: 3, protocol.KindRelease: 4}[kind]
		for _, p := range s.Parties[:3] {
			if got := p.Status(); got.State != session.Done || p.Debits != debits {
				t.Errorf("lost in %s: %s is %s after %d debits, want %d", kind, p.Name, got.State, p.Debits, debits)
			}
		}
	}
}

// resultOf returns the result of a study.
func resultOf(t *testing.T, s *protocoltest.Simulation) protocol.Result {
	board := s.Aggregator.Board()
	r, err := wire.DecodeResult(board.Envelopes[upTo(board, protocol.KindResult)].Payload())
	check(t, err)
	return r
}

// If too few release the second round before the deadline, the first alone is the answer. A party
// that has not released spends no more, and reads the answer like all others, even if it comes back
// after the end.
func TestFirstRoundAlone(t *testing.T) {
	for name, terms := range map[string]protocoltest.Terms{"plain": {Parties: 4, Quorum: 3, Rounds: true}, "masked": {Parties: 4, Quorum: 4, Masked: true, Rounds: true}} {
		t.Run(name, func(t *testing.T) {
			s := approved(t, protocoltest.Options{Study: newStudy(t, terms), Seed: 3})
			check(t, s.RunUntil(func() bool { return countOf(s, protocol.KindInterim) == 1 }))
			waits, sketched, back := s.Parties[1], s.Parties[2], s.Parties[3]
			for _, p := range []*protocoltest.Party{waits, back} {
				p.Away, p.Excused = true, true
			}
			sketched.Excused = true
			check(t, s.RunUntil(func() bool { return sketched.Status().State == session.Sketched }))
			sketched.Away = true // its release has not arrived
			check(t, s.Run())
			check(t, s.Advance(s.Study.Deadline))
			waits.Away = false
			check(t, s.Run())
			r := resultOf(t, s)
			if !r.FirstOnly || r.Completed || len(r.Releases) != 4 || countOf(s, protocol.KindRelease) > 2 {
				t.Fatalf("%+v, after %d releases", r, countOf(s, protocol.KindRelease))
			}
			sketched.Away, back.Away = false, false
			check(t, s.Run())
			for i, debits := range []int{2, 1, 2, 1} {
				if p := s.Parties[i]; p.Status().State != session.Done || p.Debits != debits || len(p.Store.Secrets) > 0 {
					t.Errorf("%s is %s after %d debits, want %d, with %d secrets: %v", p.Name, p.Status().State, p.Debits, debits, len(p.Store.Secrets), p.Status().Failure)
				}
			}
			check(t, s.Check())
		})
	}
}

// Between the deadline and the result a party waits, and keeps no seed that has no use.
func TestAfterTheSecondRound(t *testing.T) {
	waited := 0
	for seed := range uint64(20) {
		s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2, Rounds: true}), Seed: seed})
		waits := s.Parties[1]
		sketching := func() bool {
			got := waits.Status()
			return got.State == session.Seeded && got.WaitFor == wait.Sketch
		}
		check(t, s.RunUntil(sketching))
		if !sketching() {
			continue // it passed this state within one step
		}
		for _, p := range s.Parties {
			p.Away, p.Excused = true, true
		}
		check(t, s.Run())
		check(t, s.Advance(s.Study.Deadline))
		waits.Away = false
		check(t, s.RunUntil(func() bool { return waits.Status().WaitFor == wait.Result }))
		if got := waits.Status(); got.State == session.Halfway && got.WaitFor == wait.Result {
			if waited++; len(waits.Store.Secrets) > 0 {
				t.Errorf("seed %d: it waits with %d secrets", seed, len(waits.Store.Secrets))
			}
		}
		check(t, s.Run())
		if got := waits.Status(); got.State != session.Done || waits.Debits > 2 {
			t.Errorf("seed %d: %s after %d debits: %v", seed, got.State, waits.Debits, got.Failure)
		}
	}
	if waited == 0 {
		t.Error("no party has waited")
	}
}

// Rules for a result of the first round alone.
func TestFirstRoundAloneIsHeldToItsRules(t *testing.T) {
	cases := map[string]struct {
		terms  protocoltest.Terms
		change func(*protocol.Result)
		says   string // empty: the result is valid
	}{
		"as it should be":         {terms: protocoltest.Terms{Quorum: 2, Rounds: true}, change: func(*protocol.Result) {}},
		"of some":                 {protocoltest.Terms{Quorum: 2, Rounds: true}, func(r *protocol.Result) { r.Releases = r.Releases[1:] }, "other first rounds than the interim's"},
		"of another order":        {protocoltest.Terms{Quorum: 2, Rounds: true}, func(r *protocol.Result) { slices.Reverse(r.Releases) }, "other first rounds than the interim's"},
		"of releases":             {protocoltest.Terms{Quorum: 2, Rounds: true}, func(r *protocol.Result) { r.FirstOnly = false }, "not on the board"},
		"complete":                {protocoltest.Terms{Quorum: 2, Rounds: true}, func(r *protocol.Result) { r.Completed = true }, "says that it is complete"},
		"that answers nothing":    {pooledTerms, func(*protocol.Result) {}, "the first round answers no analysis"},
		"of a study of one round": {protocoltest.Terms{Quorum: 2}, func(*protocol.Result) {}, "there is no interim"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := approved(t, protocoltest.Options{Study: newStudy(t, c.terms), Seed: 3})
			check(t, s.Run())
			own := resultOf(t, s)
			f := &fixture{t: t, study: s.Study, board: s.Aggregator.Board(), parties: s.Parties}
			own.FirstOnly, own.Completed = true, false
			if c.terms.Rounds {
				i, err := wire.DecodeInterim(f.board.Envelopes[upTo(f.board, protocol.KindInterim)].Payload())
				check(t, err)
				own.Releases = i.Firsts
			}
			c.change(&own)
			e := protocoltest.Sealed(f.board.Keeper.Seal(s.Study.ID, protocol.KindResult, 1, wire.EncodeResult(own)))
			before := f.before(protocol.KindResult)
			a, err := session.NewAggregator(session.AggregatorConfig{Study: s.Study, Signer: f.board.Keeper})
			check(t, err)
			err = a.Restore(append(before.Envelopes[:len(before.Envelopes):len(before.Envelopes)], e))
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}
