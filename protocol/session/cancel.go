package session

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Cancel is the operator's decision to end a study that has no result. It becomes a stop whose
// reason says who decided. Parties apply the same rules to it as to any other stop.
type Cancel struct{ Reason string }

func (Cancel) aggregatorEvent() {}

// ErrAnswered refuses to cancel a study that has a signed result.
var ErrAnswered error = fail.ResultStands

// ErrEnded refuses to cancel a study that has already ended.
var ErrEnded = errors.New("the study was stopped before")

// Cancellable returns nil if Cancel would end the study, else ErrAnswered or ErrEnded.
func (a *Aggregator) Cancellable() error {
	switch {
	case a.view.result() != nil:
		return ErrAnswered
	case a.view.ended() || a.failure != nil:
		return ErrEnded
	}
	return nil
}

// cancel: every state before the first result → stopped.
func (a *Aggregator) cancel(ev Cancel, out *Effects) error {
	if err := a.Cancellable(); err != nil {
		return err
	}
	a.stop(CancelReason(ev.Reason), nil, out)
	return nil
}

// CancelReason returns the reason for a stop by the operator.
func CancelReason(why string) string {
	if why == "" {
		return "cancelled by the aggregator's operator, who gave no reason"
	}
	return fmt.Sprintf("cancelled by the aggregator's operator: %q", why)
}

// Stopped returns the aggregator's stop, once it is on the board.
func (a *Aggregator) Stopped() (protocol.Stop, bool) {
	if a.view.stop == nil {
		return protocol.Stop{}, false
	}
	return *a.view.stop, true
}

// Ended reports whether nothing can follow on the board, and the date given there. The date is 0 if
// the first result ends the study, which carries no date.
func (a *Aggregator) Ended() (at protocol.Instant, ended bool) {
	switch v := a.view; {
	case v.stop != nil:
		return v.stop.At, true
	case v.closed != nil:
		return v.closed.At, true
	}
	return 0, a.view.ended()
}

// printable replaces characters that a terminal would act upon or not show: the reason is whatever
// the aggregator wrote.
func printable(reason string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, reason)
}
