package session

import (
	"errors"

	"github.com/cosketch/cosketch/protocol"
)

// ErrPassed reports an envelope whose turn has passed: the board will never take it any more. The aggregator
// leaves it out, and its sender drops it. A message can pass its turn on the way, by what another one says:
// that is nobody's fault.
var ErrPassed = errors.New("its turn has passed")

// late is a refusal of such an envelope, which says why.
type late struct{ error }

func (l late) Unwrap() error        { return l.error }
func (l late) Is(target error) bool { return target == ErrPassed }

// Turn says when a party's envelope of a kind has its place on the board.
type Turn struct {
	Kind   protocol.Kind
	Who    string // may post it
	Opens  string // from when on
	Passes string // from when on it is left out, unless it is on the board already

	passed func(*view, protocol.Verified) bool
}

// Turns is the table of turns. Nothing has its turn once the board has ended.
func Turns() []Turn {
	const over = "the attempt is over, or another one gave the seed"
	member := "a member of the attempt"
	return []Turn{
		{protocol.KindApprove, "a listed party", "at once", "there is a roster", fixed},
		{protocol.KindWithdraw, "a listed party", "at once", "its sender has committed", committed},
		{protocol.KindCommit, member, "the attempt's roster", over, gone},
		{protocol.KindShare, member, "all commits of the attempt", over, gone},
		{protocol.KindConfirm, member, "all shares of the attempt", over, gone},
		{protocol.KindComplaint, member, "all shares of the attempt", over, gone},
		{protocol.KindAbandon, member, "the attempt is doubtful", "an attempt gave the seed, or this one is over and not doubtful", settled},
		{protocol.KindCertificate, member, "the attempt is over", "an attempt gave the seed, or this one is void", certain},
		{protocol.KindJoin, "a listed party in no roster", "the attempt is certified", over, gone},
		{protocol.KindWelcome, member, "the join that it answers", over, gone},
		{protocol.KindJoined, "a newcomer", "a welcome to its sender", over, gone},
		{protocol.KindRelease, "a member of the certified attempt, or who has joined", "the attempt is certified", over, gone},
	}
}

func fixed(v *view, _ protocol.Verified) bool { return v.current() != nil }

func committed(v *view, e protocol.Verified) bool {
	for _, a := range v.attempts {
		if a.has(e.Sender(), protocol.KindCommit) {
			return true
		}
	}
	return false
}

func gone(v *view, e protocol.Verified) bool {
	a, seeded := v.at(e.Attempt()), v.certified()
	return a != nil && (a.over() || seeded != nil && seeded != a)
}

func settled(v *view, e protocol.Verified) bool {
	a := v.at(e.Attempt())
	return v.certified() != nil || a != nil && a.over() && !a.doubtful()
}

func certain(v *view, e protocol.Verified) bool {
	a := v.at(e.Attempt())
	return v.certified() != nil || a != nil && a.void
}

// passed reports whether an envelope's turn has passed.
func (v *view) passed(e protocol.Verified) bool {
	if v.ended() {
		return true
	}
	for _, t := range Turns() {
		if t.Kind == e.Kind() {
			return t.passed(v, e)
		}
	}
	return false
}
