package session_test

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// end stands for the end of a board, for cases that no message starts.
const end protocol.Kind = "end"

// fixture is a successful study. A test takes the beginning of its board and adds something else.
type fixture struct {
	t       *testing.T
	study   *study.Study
	board   protocoltest.Board
	parties []*protocoltest.Party
	ended   protocol.Cause // the cause by which atAggregator's last message ended the attempt
}

// accused returns the cause for which the effects of a refused message accuse its sender.
func accused(effects session.Effects, e protocol.Verified) protocol.Cause {
	if len(effects.Persist) == 0 {
		return ""
	}
	save, ok := effects.Persist[0].(session.SaveEnvelope)
	if !ok || save.Envelope.Kind() != protocol.KindFault {
		return ""
	}
	x, err := wire.DecodeAccusations(save.Envelope.Payload())
	if err != nil || len(x.Against) != 1 || x.Against[0].Culprit != e.Sender() || x.Against[0].Kind != e.Kind() {
		return "" // an effect that a refusal must not have
	}
	return x.Against[0].Cause
}

func newFixture(t *testing.T, o protocoltest.Options) *fixture {
	b, s := completed(t, o)
	return &fixture{t: t, study: s.Study, board: b, parties: s.Parties}
}

// before returns the board up to the first message of a kind.
func (f *fixture) before(kind protocol.Kind) protocoltest.Board {
	if kind == "second commit" {
		return f.board.With(upTo(f.board, protocol.KindCommit) + 1)
	}
	return f.board.With(upTo(f.board, kind))
}

func (f *fixture) party(i int) protocol.Signer { return f.parties[i].Signer }

// sign signs any message in this study.
func (f *fixture) sign(by protocol.Signer, kind protocol.Kind, payload []byte) protocol.Verified {
	attempt := uint32(1)
	if kind.PreAttempt() {
		attempt = 0
	}
	return protocoltest.Sealed(by.Seal(f.study.ID, kind, attempt, payload))
}

// posted returns the message of a kind that party i posted in the successful study.
func (f *fixture) posted(i int, kind protocol.Kind) protocol.Verified {
	for _, e := range f.board.Envelopes {
		if e.Kind() == kind && e.Sender() == f.party(i).ID() {
			return e
		}
	}
	f.t.Fatalf("party %d posted no %s", i, kind)
	return protocol.Verified{}
}

func (f *fixture) approve(by protocol.Signer) protocol.Verified {
	return f.sign(by, protocol.KindApprove, wire.EncodeApprove(protocol.Approve{Meaning: f.study.Meaning}))
}

// confirm returns party 0's confirmation after a change.
func (f *fixture) confirm(change func(*protocol.Confirm)) protocol.Verified {
	c, err := wire.DecodeConfirm(f.posted(0, protocol.KindConfirm).Payload())
	check(f.t, err)
	change(&c)
	return f.sign(f.party(0), protocol.KindConfirm, wire.EncodeConfirm(c))
}

// release returns party 0's release header after a change.
func (f *fixture) release(change func(*protocol.Release)) protocol.Verified {
	r, err := wire.DecodeRelease(f.posted(0, protocol.KindRelease).Payload())
	check(f.t, err)
	change(&r)
	return f.sign(f.party(0), protocol.KindRelease, wire.EncodeRelease(r))
}

// result returns the aggregator's result after a change.
func (f *fixture) result(change func(*protocol.Result)) protocol.Verified {
	r, err := wire.DecodeResult(f.board.Envelopes[len(f.board.Envelopes)-1].Payload())
	check(f.t, err)
	change(&r)
	return f.sign(f.board.Keeper, protocol.KindResult, wire.EncodeResult(r))
}

func (f *fixture) roster(approvals ...protocol.Verified) protocol.Verified {
	var r protocol.Roster
	for _, a := range approvals {
		r.Approvals = append(r.Approvals, a.ID())
	}
	return f.sign(f.board.Keeper, protocol.KindRoster, wire.EncodeRoster(r))
}

func (f *fixture) stop() protocol.Verified {
	return f.sign(f.board.Keeper, protocol.KindStop, wire.EncodeStop(protocol.Stop{Reason: "enough", At: protocoltest.Start}))
}

// atAggregator posts an envelope to an aggregator that holds this board. It checks that a refusal
// changes nothing, unless it ends the attempt by the sender's fault.
func (f *fixture) atAggregator(b protocoltest.Board, e protocol.Verified) error {
	f.t.Helper()
	a, err := session.NewAggregator(session.AggregatorConfig{Study: f.study, Signer: f.board.Keeper})
	check(f.t, err)
	check(f.t, a.Restore(b.Envelopes))
	before := a.Head()
	effects, err := a.Step(session.Post{Envelope: e})
	if f.ended = accused(effects, e); f.ended != "" {
		return err
	}
	if err != nil && (a.Head().Chain != before.Chain || len(effects.Persist)+len(effects.Send)+len(effects.Run) > 0) {
		f.t.Errorf("a refusal (%v) had effects %+v", err, effects)
	}
	return err
}

// atParty shows the board to party i, whose store has all its own messages on it.
func (f *fixture) atParty(i int, b protocoltest.Board) error {
	f.t.Helper()
	var restored session.PartyRestored
	for _, e := range b.Envelopes {
		if e.Sender() == f.party(i).ID() {
			restored.Own = append(restored.Own, e)
		}
	}
	p, err := session.NewParty(session.PartyConfig{Study: f.study, Signer: f.party(i), Entropy: nothing{}, Restored: restored})
	check(f.t, err)
	effects, err := p.Step(b.All())
	check(f.t, err)
	status := p.Status()
	if refused(status.Failure) && len(effects.Persist)+len(effects.Send)+len(effects.Run) > 0 {
		f.t.Errorf("a refused board (%v) had effects %+v", status.Failure, effects)
	}
	return status.Failure
}

// refused reports whether the party refused a board, because of a fault of whoever showed it. A
// valid board may also say that this party was removed, or that the study stopped for the faults of
// others.
func refused(err error) bool {
	var fault *protocol.Fault
	var struck *session.StruckError
	var stopped *session.StoppedError
	return errors.As(err, &fault) && !errors.As(err, &struck) && !errors.As(err, &stopped)
}

// nothing is the entropy of parties that must not draw any.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, errors.New("drew entropy") }

// admission is one rule: what must not follow which board.
type admission struct {
	name string
	at   protocol.Kind // the board ends before the first message of this kind
	put  protocol.Verified
	want error  // the error that the refusal wraps; nil if callers do not depend on it
	says string // text of the error
}

// Messages that parties must not post. The aggregator refuses them and names the sender. A party
// that finds one on a board blames the aggregator, and names the sender too.
func TestPartiesMayNotPost(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Seed: 3})
	a, b, c := f.party(0), f.party(1), f.party(2)
	stranger := protocoltest.Identity("stranger")
	junk := []byte("junk")
	badKey, err := wire.DecodeCommit(f.posted(0, protocol.KindCommit).Payload())
	check(t, err)
	badKey.EphemeralKey = slices.Clone(badKey.EphemeralKey)
	clear(badKey.EphemeralKey[len(badKey.EphemeralKey)-32:]) // a low-order X25519 half
	lone, err := wire.DecodeShare(f.posted(0, protocol.KindShare).Payload())
	check(t, err)
	lone.Sealed = lone.Sealed[:1]
	other := newStudy(t, protocoltest.Terms{Nonce: 1})
	copied, err := wire.DecodeCommit(f.posted(0, protocol.KindCommit).Payload())
	check(t, err)
	firstCommit := upTo(f.board, protocol.KindCommit)
	first := f.board.Envelopes[firstCommit]
	own, err := wire.DecodeCommit(first.Payload())
	check(t, err)
	copied.EphemeralKey = own.EphemeralKey
	copier := a
	if first.Sender() == a.ID() {
		copier = b
	}
	astray := lone
	astray.T1[0] ^= 1

	cases := []admission{
		{"an unlisted sender", protocol.KindApprove, f.approve(stranger), nil, "does not list"},
		{"an unlisted sender's withdrawal", end, f.sign(stranger, protocol.KindWithdraw, nil), nil, "does not list"},
		{"the aggregator approves", protocol.KindApprove, f.approve(f.board.Keeper), nil, "not for"},
		{"the aggregator commits", protocol.KindCommit, f.sign(f.board.Keeper, protocol.KindCommit, junk), nil, "not for"},
		{"the aggregator releases", protocol.KindRelease, f.sign(f.board.Keeper, protocol.KindRelease, junk), nil, "not for"},
		{"a party fixes the roster", protocol.KindRoster, f.sign(a, protocol.KindRoster, f.roster().Payload()), nil, "not for"},
		{"a party posts a result", protocol.KindResult, f.sign(a, protocol.KindResult, junk), nil, "not for"},
		{"a party stops the study", protocol.KindCommit, f.sign(a, protocol.KindStop, f.stop().Payload()), nil, "not for"},
		{"a message of another study", protocol.KindApprove, protocoltest.Sealed(a.Seal(other.ID, protocol.KindApprove, 0, f.approve(a).Payload())), nil, "belongs to study"},
		{"a second attempt", protocol.KindCommit, protocoltest.Sealed(a.Seal(f.study.ID, protocol.KindCommit, 2, f.posted(0, protocol.KindCommit).Payload())), nil, "attempt 2"},

		{"another meaning", protocol.KindApprove, f.sign(a, protocol.KindApprove, wire.EncodeApprove(protocol.Approve{Meaning: other.Meaning})), session.ErrMeaning, ""},
		{"an approval of junk", protocol.KindApprove, f.sign(a, protocol.KindApprove, junk), nil, "decoding approve"},
		{"a withdrawal that says something", protocol.KindCommit, f.sign(a, protocol.KindWithdraw, junk), nil, "decoding withdraw"},
		{"a withdrawal after the commit", protocol.KindShare, f.sign(a, protocol.KindWithdraw, nil), session.ErrPremature, "has committed"},

		{"a commit before the roster", protocol.KindRoster, f.posted(0, protocol.KindCommit), session.ErrPremature, "no roster"},
		{"a commit of junk", protocol.KindCommit, f.sign(a, protocol.KindCommit, junk), nil, "decoding commit"},
		{"a commit nobody can seal to", protocol.KindCommit, f.sign(a, protocol.KindCommit, wire.EncodeCommit(badKey)), agree.ErrEphemeralKey, ""},
		{"a commit with a copied key", "second commit", f.sign(copier, protocol.KindCommit, wire.EncodeCommit(copied)), nil, "that of another member"},
		{"a share of another T1", protocol.KindShare, f.sign(a, protocol.KindShare, wire.EncodeShare(astray)), agree.ErrTranscript, ""},
		{"a share before the commits", protocol.KindCommit, f.posted(0, protocol.KindShare), session.ErrPremature, "commits are missing"},
		{"a share for too few", protocol.KindShare, f.sign(a, protocol.KindShare, wire.EncodeShare(lone)), agree.ErrShareForm, ""},
		{"a share of junk", protocol.KindShare, f.sign(a, protocol.KindShare, junk), nil, "decoding share"},
		{"a confirmation before the shares", protocol.KindShare, f.posted(0, protocol.KindConfirm), session.ErrPremature, "shares are missing"},
		{"a confirmation of another T1", protocol.KindConfirm, f.confirm(func(c *protocol.Confirm) { c.T1[0] ^= 1 }), agree.ErrTranscript, ""},
		{"a confirmation of another T2", protocol.KindConfirm, f.confirm(func(c *protocol.Confirm) { c.T2[0] ^= 1 }), agree.ErrTranscript, ""},
		{"a confirmation of another board", protocol.KindConfirm, f.confirm(func(c *protocol.Confirm) { c.Chain[0] ^= 1 }), session.ErrBoards, ""},
		{"a confirmation of a shorter board's chain", protocol.KindConfirm, f.confirm(func(c *protocol.Confirm) { c.Count-- }), session.ErrBoards, ""},
		{"a confirmation of a longer board", protocol.KindConfirm, f.confirm(func(c *protocol.Confirm) { c.Count = 1 << 63 }), session.ErrBoards, ""},
		{"a confirmation of junk", protocol.KindConfirm, f.sign(a, protocol.KindConfirm, junk), nil, "decoding confirm"},

		{"a release before the roster", protocol.KindRoster, f.posted(0, protocol.KindRelease), session.ErrPremature, "no roster"},
		{"a release before the certificate", protocol.KindConfirm, f.posted(0, protocol.KindRelease), session.ErrPremature, "confirmations are missing"},
		{"a release under another agreement", protocol.KindRelease, f.release(func(r *protocol.Release) { r.T2[0] ^= 1 }), session.ErrOtherSeed, ""},
		{"a release with a sketch missing", protocol.KindRelease, f.release(func(r *protocol.Release) { r.Sketches = r.Sketches[:1] }), nil, "release of 1 sketches"},
		{"a release with a sketch too many", protocol.KindRelease, f.release(func(r *protocol.Release) { r.Sketches = append(r.Sketches, r.Sketches[0]) }), nil, "release of 3 sketches"},
		{"a release with another k", protocol.KindRelease, f.release(func(r *protocol.Release) { r.Sketches[0].Rows++ }), nil, "sketch 1 is 17 ×"},
		{"a release with another column", protocol.KindRelease, f.release(func(r *protocol.Release) { r.Sketches[0].Cols++ }), nil, "sketch 1 is 16 ×"},
		{"a release with other rows than records", protocol.KindRelease, f.release(func(r *protocol.Release) { r.Records++ }), nil, "sketch 2 is 10 ×"},
		{"a release of the other side", protocol.KindRelease, f.release(func(r *protocol.Release) { r.Sketches[0].Side = sketch.Records }), nil, "of the records side"},
		{"a release of too many records", protocol.KindRelease, f.release(func(r *protocol.Release) { r.Records = 1 << 62 }), nil, "are exact"},
		{"a release of junk", protocol.KindRelease, f.sign(a, protocol.KindRelease, junk), nil, "decoding release"},

		{"a second, different approval", protocol.KindRoster, f.sign(b, protocol.KindApprove, junk), session.ErrConflict, ""},
		{"a second, different commit", protocol.KindShare, f.sign(b, protocol.KindCommit, f.posted(0, protocol.KindCommit).Payload()), session.ErrConflict, ""},
		{"a second, different share", protocol.KindConfirm, f.sign(b, protocol.KindShare, f.posted(0, protocol.KindShare).Payload()), session.ErrConflict, ""},
		{"a second, different confirmation", protocol.KindRelease, f.sign(b, protocol.KindConfirm, junk), session.ErrConflict, ""},
		{"a second, different release", protocol.KindResult, f.sign(b, protocol.KindRelease, f.posted(0, protocol.KindRelease).Payload()), session.ErrConflict, ""},
		{"a second release after the result", end, f.sign(b, protocol.KindRelease, junk), session.ErrConflict, ""},
		{"a withdrawal after the result", end, f.sign(c, protocol.KindWithdraw, nil), session.ErrPremature, "closed"},
	}
	ends := map[string]protocol.Cause{
		"a commit of junk": protocol.CauseInvalid, "a commit nobody can seal to": protocol.CauseInvalid,
		"a share for too few": protocol.CauseInvalid, "a share of junk": protocol.CauseInvalid, "a confirmation of junk": protocol.CauseInvalid,
		"a share of another T1":                     protocol.CauseDiffers,
		"a commit with a copied key":                protocol.CauseDiffers,
		"a confirmation of another T1":              protocol.CauseDiffers,
		"a confirmation of another T2":              protocol.CauseDiffers,
		"a confirmation of another board":           protocol.CauseDiffers,
		"a confirmation of a shorter board's chain": protocol.CauseDiffers,
		"a confirmation of a longer board":          protocol.CauseDiffers,
		"a second, different commit":                protocol.CauseConflict, "a second, different share": protocol.CauseConflict,
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			board := f.before(tc.at)
			f.t = t
			err := f.atAggregator(board, tc.put)
			blamed(t, err, tc.put.Sender(), tc.want)
			if f.ended != ends[tc.name] {
				t.Errorf("ends the attempt by %q, want %q", f.ended, ends[tc.name])
			}
			says(t, err, tc.says)
			if tc.put.Sender() == c.ID() {
				return // party c would find its own message on the board
			}
			// The last party is not certain yet, as if it had just started.
			err = f.atParty(2, board.With(len(board.Envelopes), tc.put))
			blamed(t, err, f.board.Keeper.ID(), tc.want)
			says(t, err, tc.says)
			says(t, err, tc.put.Sender().String())
		})
	}
}

func says(t *testing.T, err error, text string) {
	t.Helper()
	if err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("%q does not say %q", err, text)
	}
}

// A message that is already on the board gives ErrPosted at the aggregator whenever it comes again,
// and is nobody's fault.
func TestPostingAgainIsHarmless(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Seed: 3})
	for n := range f.board.Envelopes {
		board := f.board.With(n + 1)
		for _, e := range board.Envelopes {
			if e.Kind().FromAggregator() {
				continue
			}
			err := f.atAggregator(board, e)
			var fault *protocol.Fault
			if !errors.Is(err, session.ErrPosted) || errors.As(err, &fault) {
				t.Fatalf("%s again after %d messages: %v", e, n+1, err)
			}
		}
	}
}

// Messages that an aggregator must not post: parties that find one on the board blame the
// aggregator.
func TestAggregatorsMayNotPost(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Seed: 3})
	a, b, c := f.approve(f.party(0)), f.approve(f.party(1)), f.approve(f.party(2))
	cases := []admission{
		{"a roster of fewer than the quorum", protocol.KindRoster, f.roster(a, b), nil, "quorum is 3"},
		{"an empty roster", protocol.KindRoster, f.roster(), nil, "quorum is 3"},
		{"a roster with an unknown approval", protocol.KindRoster, f.roster(a, b, f.approve(protocoltest.Identity("stranger"))), nil, "not on the board"},
		{"a roster in another order", protocol.KindRoster, f.roster(b, a, c), nil, "in another order than the raw public keys"},
		{"a roster with one approval twice", protocol.KindRoster, f.roster(a, b, b, c), nil, "not on the board"},
		{"a roster before the approvals", protocol.KindApprove, f.roster(a, b, c), nil, "not on the board"},
		{"a second roster", protocol.KindCommit, f.roster(a, b), session.ErrConflict, ""},
		{"a roster of junk", protocol.KindRoster, f.sign(f.board.Keeper, protocol.KindRoster, []byte("junk")), nil, "decoding roster"},
		{"a roster of a second attempt", protocol.KindRoster, protocoltest.Sealed(f.board.Keeper.Seal(f.study.ID, protocol.KindRoster, 2, f.roster(a, b, c).Payload())), nil, "attempt 2"},

		{"a result before the certificate", protocol.KindConfirm, f.result(func(*protocol.Result) {}), session.ErrPremature, "confirmations are missing"},
		{"a result of another agreement", protocol.KindResult, f.result(func(r *protocol.Result) { r.T2[0] ^= 1 }), session.ErrOtherSeed, ""},
		{"a result from another board", protocol.KindResult, f.result(func(r *protocol.Result) { r.Chain[0] ^= 1 }), session.ErrBoards, ""},
		{"a result from a longer board", protocol.KindResult, f.result(func(r *protocol.Result) { r.Count++ }), session.ErrBoards, ""},
		{"a result with a foreign release", protocol.KindResult, f.result(func(r *protocol.Result) { r.Releases[2] = sha256.Sum256(nil) }), nil, "not on the board"},
		{"a result with one release twice", protocol.KindResult, f.result(func(r *protocol.Result) { r.Releases[2] = r.Releases[1] }), nil, "uses one twice"},
		{"a result of fewer than the quorum", protocol.KindResult, f.result(func(r *protocol.Result) { r.Releases = r.Releases[:2] }), nil, "quorum is 3"},
		{"a whole result that says it is partial", protocol.KindResult, f.result(func(r *protocol.Result) { r.Completed = false }), nil, "completed: false"},
		{"a result of junk", protocol.KindResult, f.sign(f.board.Keeper, protocol.KindResult, []byte("junk")), nil, "decoding result"},
		{"a second result", end, f.result(func(r *protocol.Result) { r.Document.Size++ }), session.ErrPremature, "closed"},
		{"a stop after the result", end, f.stop(), session.ErrPremature, "closed"},
		{"a stop of junk", protocol.KindCommit, f.sign(f.board.Keeper, protocol.KindStop, []byte("junk")), nil, "decoding stop"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			f.t = t
			board := f.before(tc.at)
			err := f.atParty(2, board.With(len(board.Envelopes), tc.put))
			blamed(t, err, f.board.Keeper.ID(), tc.want)
			says(t, err, tc.says)
			blamed(t, f.atAggregator(board, tc.put), f.board.Keeper.ID(), nil) // it refuses its own kinds from others, too
		})
	}
}

// Nothing follows a stop or a result, of any kind from anybody.
func TestNothingFollowsTheEnd(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Seed: 3})
	if got := len(f.board.Envelopes); got != 17 {
		t.Fatalf("%d messages", got)
	}
	for n, next := range f.board.Envelopes {
		stopped := f.board.With(n, f.stop())
		if next.Kind().FromParty() {
			blamed(t, f.atAggregator(stopped, next), next.Sender(), session.ErrPremature)
		}
		err := f.atParty(1, stopped.With(n+1, next))
		blamed(t, err, f.board.Keeper.ID(), session.ErrPremature)
	}
}

// With a quorum of two, a party that withdrew or approved late is no member: it cannot be listed,
// and its messages are refused.
func TestRosterWithoutSomebody(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Quorum: 2}), Seed: 3})
	a, b, c := f.approve(f.party(0)), f.approve(f.party(1)), f.approve(f.party(2))
	withdraw := f.sign(f.party(0), protocol.KindWithdraw, nil)
	none := f.board.With(0)

	err := f.atParty(1, none.With(0, a, b, c, withdraw, f.roster(a, b, c)))
	blamed(t, err, f.board.Keeper.ID(), nil)
	says(t, err, "who withdrew")
	if err := f.atParty(0, none.With(0, b, c, f.roster(b, c))); err != nil {
		t.Errorf("a party that has not decided fails with %v", err)
	}

	late := none.With(0, b, c, f.roster(b, c))
	blamed(t, f.atAggregator(late, a), f.party(0).ID(), session.ErrPremature)
	err = f.atAggregator(late, f.posted(0, protocol.KindCommit))
	blamed(t, err, f.party(0).ID(), nil)
	says(t, err, "not on the roster")

	// Its approval was on the board, but the roster omits it.
	err = f.atParty(0, none.With(0, a, b, c, f.roster(b, c)))
	says(t, err, "without this party")
	if err == nil {
		t.Error("a party that was left out goes on")
	}
}

// If texts travel apart, a share comes with all of its sealed texts and without a path.
func TestTextsAreBesideTheirShares(t *testing.T) {
	text, hash := make([]byte, agree.SealedSize), [32]byte{1}
	for name, c := range map[string]struct {
		apart bool
		with  func(texts [][]byte) ([][]byte, [][32]byte)
		taken bool
	}{
		"none where none are to be": {false, func([][]byte) ([][]byte, [][32]byte) { return nil, nil }, true},
		"a text":                    {false, func([][]byte) ([][]byte, [][32]byte) { return [][]byte{text}, nil }, false},
		"a path":                    {false, func([][]byte) ([][]byte, [][32]byte) { return nil, [][32]byte{hash} }, false},
		"a text and a path":         {false, func([][]byte) ([][]byte, [][32]byte) { return [][]byte{text}, [][32]byte{hash} }, false},
		"all":                       {true, func(all [][]byte) ([][]byte, [][32]byte) { return all, nil }, true},
		"all but one":               {true, func(all [][]byte) ([][]byte, [][32]byte) { return all[1:], nil }, false},
		"all and a path":            {true, func(all [][]byte) ([][]byte, [][32]byte) { return all, [][32]byte{hash} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := approved(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Apart: c.apart}), Seed: 3})
			check(t, s.RunUntil(func() bool { return countOf(s, protocol.KindShare) == 1 }))
			f := &fixture{t: t, study: s.Study, board: s.Aggregator.Board(), parties: s.Parties}
			share := f.board.Envelopes[upTo(f.board, protocol.KindShare)]
			for _, p := range s.Parties {
				for _, own := range p.Store.Own {
					if own.ID() == share.ID() {
						share = own // as it was sent
					}
				}
			}
			all, _ := share.Beside()
			err := f.atAggregator(f.before(protocol.KindShare), share.With(c.with(all)))
			if (err == nil) != c.taken || f.ended != "" {
				t.Errorf("taken with %v, and ends the attempt by %q", err, f.ended)
			}
		})
	}
}
