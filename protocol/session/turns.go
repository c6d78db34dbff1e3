package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/turn"
)

// Messages that have lost their turn, or have none yet: package turn has the table.

// ErrPremature reports a message whose turn it is not: it has not come, or has passed.
var ErrPremature = errors.New("not its turn")

// ErrPassed reports a message whose turn has passed. It is nobody's fault: its sender had not yet
// seen what ended it. The aggregator skips it and admits what comes after.
var ErrPassed = fmt.Errorf("%w any more", ErrPremature)

// ErrClosed is ErrPassed because of one of the study's dates.
var ErrClosed = fmt.Errorf("%w by the study's dates", ErrPassed)

// aboutBoard reports whether a kind concerns no single attempt.
func aboutBoard(kind protocol.Kind) bool {
	return kind.PreAttempt() || kind == protocol.KindStop || kind == protocol.KindClose
}

// phase returns the phase of an envelope's attempt.
func (v *view) phase(kind protocol.Kind, attempt uint32) turn.Phase {
	a, seeded := v.at(attempt), v.certified()
	if aboutBoard(kind) {
		if a = seeded; a == nil {
			a = v.current()
		}
	}
	switch {
	case v.ended():
		return turn.Ended
	case a == nil:
		return turn.NoRoster
	case a.certified && len(v.results) > 0:
		return turn.HasResult
	case a.certified && a.between():
		return turn.FirstRound
	case a.certified:
		return turn.Certified
	case seeded != nil:
		return turn.Elsewhere
	case a.void:
		return turn.Void
	case a.doubtful():
		return turn.Unproved
	case a.over():
		return turn.Over
	}
	switch a.round() {
	case protocol.KindCommit:
		return turn.Committing
	case protocol.KindShare:
		return turn.Sharing
	}
	return turn.Confirming
}

// turn returns nil if the board takes an envelope now, else ErrPremature or ErrPassed with the
// reason.
func (v *view) turn(e protocol.Verified) error {
	phase := v.phase(e.Kind(), e.Attempt())
	switch turn.Of(e.Kind(), phase) {
	case turn.Takes:
		return nil
	case turn.Late:
		return fmt.Errorf("%w: %w", ErrPassed, v.because(e, phase))
	default:
		return fmt.Errorf("%w: %w", ErrPremature, v.because(e, phase))
	}
}

// because explains a phase by what the board shows.
func (v *view) because(e protocol.Verified, phase turn.Phase) error {
	switch phase {
	case turn.NoRoster:
		return fmt.Errorf("there is no roster of attempt %d yet", max(1, e.Attempt()))
	case turn.Committing, turn.Sharing, turn.Confirming:
		if e.Kind() == protocol.KindApprove || e.Kind() == protocol.KindRoster {
			return errors.New("the roster is fixed")
		}
		a := v.newest(e)
		if e.Kind().Agreement() && turn.Of(e.Kind(), phase) == turn.Late {
			return fmt.Errorf("attempt %d has every %s", a.number, e.Kind())
		}
		return fmt.Errorf("attempt %d is under way, and %s are missing", a.number, plural[a.round()])
	case turn.FirstRound:
		return fmt.Errorf("attempt %d is in its first round", v.newest(e).number)
	case turn.HasResult:
		return errors.New("the study has a result")
	case turn.Certified, turn.Elsewhere:
		if e.Kind() == protocol.KindFirst || e.Kind() == protocol.KindInterim {
			return errors.New("the first round is over, or the study has one round")
		}
		return fmt.Errorf("attempt %d gave the seed", v.certified().number)
	case turn.Void:
		return fmt.Errorf("attempt %d is void: %w", v.newest(e).number, ErrVoid)
	case turn.Over, turn.Unproved:
		return fmt.Errorf("attempt %d is over", v.newest(e).number)
	}
	return errors.New("the study is closed")
}

// plural names the missing messages of a round.
var plural = map[protocol.Kind]string{protocol.KindCommit: "commits", protocol.KindShare: "shares", protocol.KindConfirm: "confirmations"}

// newest returns the attempt of an envelope, or the newest one.
func (v *view) newest(e protocol.Verified) *attempt {
	if a := v.at(e.Attempt()); a != nil {
		return a
	}
	return v.current()
}
