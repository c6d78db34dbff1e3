package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
)

// Whose turn it is. Each envelope is about an attempt, and the board shows that attempt in
// one phase. The table turns says for each kind and phase whether a board takes the
// envelope. Everything follows from it: what is admitted, what a party sends of its own
// envelopes, and what the aggregator passes over in a request.

// Phase is where an attempt stands on a board. Approvals, withdrawals, stops and closes are
// about no single attempt: for them it is the phase of the attempt that gave the seed, or
// else of the newest one.
type Phase string

// The phases, in the order of the columns of the table.
const (
	NoRoster   Phase = "no roster"  // of this attempt; for kinds about no attempt, of any
	Committing Phase = "commits"    // commits are missing
	Sharing    Phase = "shares"     // all commits are here, shares are missing
	Confirming Phase = "confirms"   // all shares are here, confirmations are missing
	Certified  Phase = "certified"  // all confirmations are here; there is no result
	HasResult  Phase = "result"     // there is a result, and the study takes late parties
	Over       Phase = "over"       // it ended without a seed, and nobody can have seen one
	Doubtful   Phase = "doubtful"   // it ended on the aggregator's word when all shares were in
	Void       Phase = "void"       // its masked sum lacks a release
	Elsewhere  Phase = "other seed" // it ended, and another attempt gave the seed
	Ended      Phase = "ended"      // nothing can follow on the board
)

// Turn says what a board does with an envelope of a kind in a phase.
type Turn string

// The turns.
const (
	Takes Turn = "takes" // it is taken if it fits
	Early Turn = "early" // its turn has not come: it is refused, and a party keeps it back
	Late  Turn = "late"  // its turn has passed: it is passed over, and a party drops it
)

// TurnRow is one row of the table.
type TurnRow struct {
	Kind protocol.Kind
	Who  string // may post it
	In   [11]Turn
	If   string // what it takes beside the phase and the payload's own rules
}

// Phases are the columns of the table.
func Phases() [11]Phase {
	return [...]Phase{NoRoster, Committing, Sharing, Confirming, Certified, HasResult, Over, Doubtful, Void, Elsewhere, Ended}
}

// Turns is the table, which SPEC.md holds too.
func Turns() []TurnRow { return turns[:] }

var turns = [...]TurnRow{
	{protocol.KindApprove, "a listed party", [...]Turn{Takes, Late, Late, Late, Late, Late, Late, Late, Late, Late, Late}, ""},
	{protocol.KindWithdraw, "a listed party", [...]Turn{Takes, Takes, Takes, Takes, Takes, Takes, Takes, Takes, Takes, Takes, Late}, "before its sender's first commit"},
	{protocol.KindRoster, "the aggregator", [...]Turn{Takes, Late, Late, Late, Late, Late, Late, Late, Late, Late, Late}, "the attempt before is over, and none is certified"},
	{protocol.KindCommit, "a member", [...]Turn{Early, Takes, Late, Late, Late, Late, Late, Late, Late, Late, Late}, ""},
	{protocol.KindShare, "a member", [...]Turn{Early, Early, Takes, Late, Late, Late, Late, Late, Late, Late, Late}, ""},
	{protocol.KindConfirm, "a member", [...]Turn{Early, Early, Early, Takes, Late, Late, Late, Late, Late, Late, Late}, ""},
	{protocol.KindComplaint, "a member", [...]Turn{Early, Early, Early, Takes, Takes, Late, Late, Late, Late, Late, Late}, "of a certified attempt, of a wrong tag or published alone"},
	{protocol.KindFault, "the aggregator", [...]Turn{Early, Takes, Takes, Takes, Takes, Late, Late, Late, Late, Late, Late}, "of a certified attempt, that masked releases are missing; else of the agreement"},
	{protocol.KindAbandon, "a member", [...]Turn{Early, Early, Early, Early, Late, Late, Late, Takes, Late, Late, Late}, ""},
	{protocol.KindCertificate, "a member", [...]Turn{Early, Early, Early, Early, Late, Late, Takes, Takes, Late, Late, Late}, "before any abandon of the attempt"},
	{protocol.KindJoin, "a newcomer", [...]Turn{Early, Early, Early, Early, Takes, Takes, Late, Late, Late, Late, Late}, ""},
	{protocol.KindWelcome, "a member", [...]Turn{Early, Early, Early, Early, Takes, Takes, Late, Late, Late, Late, Late}, "its join is on the board"},
	{protocol.KindJoined, "a newcomer", [...]Turn{Early, Early, Early, Early, Takes, Takes, Late, Late, Late, Late, Late}, "after a welcome"},
	{protocol.KindRelease, "a member, a joined newcomer", [...]Turn{Early, Early, Early, Early, Takes, Takes, Late, Late, Late, Late, Late}, ""},
	{protocol.KindResult, "the aggregator", [...]Turn{Early, Early, Early, Early, Takes, Takes, Late, Late, Late, Late, Late}, ""},
	{protocol.KindStop, "the aggregator", [...]Turn{Takes, Takes, Takes, Takes, Takes, Late, Takes, Takes, Takes, Takes, Late}, ""},
	{protocol.KindClose, "the aggregator", [...]Turn{Early, Early, Early, Early, Early, Takes, Early, Early, Early, Early, Late}, ""},
}

// ErrPremature reports a message that it is not the turn of: it has not come, or has passed.
var ErrPremature = errors.New("not its turn")

// ErrPassed reports a message whose turn has passed. It is nobody's fault: its sender had not
// seen yet what ended it. The aggregator passes over it and takes in what comes after.
var ErrPassed = fmt.Errorf("%w any more", ErrPremature)

// ErrClosed is ErrPassed by one of the study's dates.
var ErrClosed = fmt.Errorf("%w by the study's dates", ErrPassed)

// aboutBoard reports a kind that is about no single attempt.
func aboutBoard(kind protocol.Kind) bool {
	return kind.PreAttempt() || kind == protocol.KindStop || kind == protocol.KindClose
}

// phase is where the attempt of an envelope stands.
func (v *view) phase(kind protocol.Kind, attempt uint32) Phase {
	a, seeded := v.at(attempt), v.certified()
	if aboutBoard(kind) {
		if a = seeded; a == nil {
			a = v.current()
		}
	}
	switch {
	case v.ended():
		return Ended
	case a == nil:
		return NoRoster
	case a.certified && len(v.results) > 0:
		return HasResult
	case a.certified:
		return Certified
	case seeded != nil:
		return Elsewhere
	case a.void:
		return Void
	case a.doubtful():
		return Doubtful
	case a.over():
		return Over
	}
	switch a.round() {
	case protocol.KindCommit:
		return Committing
	case protocol.KindShare:
		return Sharing
	}
	return Confirming
}

// turnOf looks a kind up in the table.
func turnOf(kind protocol.Kind, phase Phase) Turn {
	for _, row := range turns {
		if row.Kind != kind {
			continue
		}
		for i, column := range Phases() {
			if column == phase {
				return row.In[i]
			}
		}
	}
	return Early
}

// turn says whether a board takes an envelope now, or why not: the error is ErrPremature or
// ErrPassed.
func (v *view) turn(e protocol.Verified) error {
	phase := v.phase(e.Kind(), e.Attempt())
	switch turn := turnOf(e.Kind(), phase); turn {
	case Takes:
		return nil
	case Late:
		return fmt.Errorf("%w: %w", ErrPassed, v.because(e, phase))
	default:
		return fmt.Errorf("%w: %w", ErrPremature, v.because(e, phase))
	}
}

// because says what the board shows in a phase.
func (v *view) because(e protocol.Verified, phase Phase) error {
	switch phase {
	case NoRoster:
		return fmt.Errorf("there is no roster of attempt %d yet", max(1, e.Attempt()))
	case Committing, Sharing, Confirming:
		if e.Kind() == protocol.KindApprove || e.Kind() == protocol.KindRoster {
			return errors.New("the roster is fixed")
		}
		a := v.newest(e)
		if e.Kind().Agreement() && turnOf(e.Kind(), phase) == Late {
			return fmt.Errorf("attempt %d has every %s", a.number, e.Kind())
		}
		return fmt.Errorf("attempt %d is under way, and %s are missing", a.number, plural[a.round()])
	case HasResult:
		return errors.New("the study has a result")
	case Certified, Elsewhere:
		return fmt.Errorf("attempt %d gave the seed", v.certified().number)
	case Void:
		return fmt.Errorf("attempt %d is void: %w", v.newest(e).number, ErrVoid)
	case Over, Doubtful:
		return fmt.Errorf("attempt %d is over", v.newest(e).number)
	}
	return errors.New("the study is closed")
}

// plural is what an attempt lacks of the messages of a round.
var plural = map[protocol.Kind]string{protocol.KindCommit: "commits", protocol.KindShare: "shares", protocol.KindConfirm: "confirmations"}

// newest is the attempt that an envelope is about, or the newest one.
func (v *view) newest(e protocol.Verified) *attempt {
	if a := v.at(e.Attempt()); a != nil {
		return a
	}
	return v.current()
}
