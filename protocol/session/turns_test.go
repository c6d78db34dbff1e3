package session_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
)

// The table of turns is the one in SPEC.md, row by row, and has every kind that a party may post.
func TestTurnsAreThoseOfTheSpec(t *testing.T) {
	spec, err := os.ReadFile("../SPEC.md")
	check(t, err)
	var want strings.Builder
	want.WriteString("| kind | who | its turn begins with | and has passed when |\n|---|---|---|---|\n")
	known := map[protocol.Kind]bool{}
	for _, turn := range session.Turns() {
		known[turn.Kind] = true
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", turn.Kind, turn.Who, turn.Opens, turn.Passes)
	}
	if !strings.Contains(string(spec), want.String()) {
		t.Errorf("SPEC.md, section 8, does not have this table:\n%s", want.String())
	}
	for _, kind := range []protocol.Kind{
		protocol.KindApprove, protocol.KindWithdraw, protocol.KindCommit, protocol.KindShare, protocol.KindConfirm, protocol.KindComplaint, protocol.KindAbandon,
		protocol.KindCertificate, protocol.KindJoin, protocol.KindWelcome, protocol.KindJoined, protocol.KindRelease, protocol.KindRoster, protocol.KindFault,
		protocol.KindResult, protocol.KindStop, protocol.KindClose,
	} {
		if known[kind] != kind.FromParty() {
			t.Errorf("%s: in the table %t, posted by parties %t", kind, known[kind], kind.FromParty())
		}
	}
}

// What can have its turn no more is told from what has it not yet, and from what is wrong.
func TestPassedTurns(t *testing.T) {
	f := quorumTwo(t)
	b := f.party(1)
	before := f.before(protocol.KindShare) // all have committed in attempt 1
	shown := f.accusation(protocoltest.Start, protocol.CauseConflict, protocol.KindCommit, f.posted(0, protocol.KindCommit), f.sign(f.party(0), protocol.KindCommit, []byte("junk")))
	over := before.With(len(before.Envelopes), shown)
	approvals := []protocol.Digest{f.posted(1, protocol.KindApprove).ID(), f.posted(2, protocol.KindApprove).ID()}
	next := over.With(len(over.Envelopes), protocoltest.Sealed(f.board.Keeper.Seal(f.study.ID, protocol.KindRoster, 2,
		wire.EncodeRoster(protocol.Roster{Approvals: approvals, Faults: []protocol.Digest{shown.ID()}}))))
	for _, kind := range []protocol.Kind{protocol.KindShare, protocol.KindConfirm, protocol.KindComplaint, protocol.KindRelease, protocol.KindWithdraw} {
		for name, board := range map[string]protocoltest.Board{"over": over, "followed": next} {
			attempt := uint32(1)
			if kind.PreAttempt() {
				attempt = 0
			}
			if err := f.atAggregator(board, protocoltest.Sealed(b.Seal(f.study.ID, kind, attempt, f.payload(kind)))); !errors.Is(err, session.ErrPassed) {
				t.Errorf("%s of an attempt that is %s: %v", kind, name, err)
			}
		}
	}
	for name, tc := range map[string]struct {
		board protocoltest.Board
		put   protocol.Verified
	}{
		"a share before all commits":           {f.before(protocol.KindCommit), f.posted(1, protocol.KindShare)},
		"a commit before the roster":           {over, protocoltest.Sealed(b.Seal(f.study.ID, protocol.KindCommit, 2, f.posted(1, protocol.KindCommit).Payload()))},
		"a release before the certificate":     {before, f.posted(1, protocol.KindRelease)},
		"a second commit":                      {next, protocoltest.Sealed(b.Seal(f.study.ID, protocol.KindCommit, 1, []byte("junk")))},
		"junk in an attempt that is under way": {next, protocoltest.Sealed(b.Seal(f.study.ID, protocol.KindCommit, 2, []byte("junk")))},
	} {
		if err := f.atAggregator(tc.board, tc.put); err == nil || errors.Is(err, session.ErrPassed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// payload is what party 1 has posted of a kind, or nothing.
func (f *fixture) payload(kind protocol.Kind) []byte {
	for _, e := range f.board.Envelopes {
		if e.Kind() == kind && e.Sender() == f.party(1).ID() {
			return e.Payload()
		}
	}
	return nil
}
