package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
)

// ClockError reports a date that ended or refused something while the clocks of the two nodes
// differ. One of them is wrong, and this may be the only fault.
type ClockError struct {
	Err   error // what the date did
	Ahead int64 // seconds by which this clock is ahead of the aggregator's; negative: behind
}

func (e *ClockError) Error() string { return fmt.Sprintf("%v (%s)", e.Err, e.remedy()) }

func (e *ClockError) Fail() *fail.Error { return fail.ClocksDiffer.Fail().With(e.remedy()) }

func (e *ClockError) remedy() string {
	then := "try again"
	var stopped *session.StoppedError
	if errors.As(e.Err, &stopped) {
		then = "make a new study"
	}
	return fmt.Sprintf("%s: %s, and %s", ClockOffsetText(e.Ahead), fail.ClocksDiffer.Remedy(), then)
}

func (e *ClockError) Unwrap() error { return e.Err }

// ClockOffsetText says by how many seconds this clock is ahead of the aggregator's.
func ClockOffsetText(ahead int64) string {
	word := "ahead of"
	if ahead < 0 {
		ahead, word = -ahead, "behind"
	}
	return fmt.Sprintf("this clock is %s %s the aggregator's", inWords(ahead), word)
}

// inWords formats a number of seconds. A time.Duration would overflow at 292 years.
func inWords(seconds int64) string {
	const day, year = 24 * 60 * 60, 365.2425
	switch days := seconds / day; {
	case days < 10:
		return (time.Duration(seconds) * time.Second).String()
	case days < 2*365:
		return fmt.Sprintf("%d days", days)
	default:
		return fmt.Sprintf("about %.0f years", float64(days)/year)
	}
}

// farthest bounds the difference between two clocks, in seconds.
const farthest = 1 << 50

// ClockOffset returns by how many seconds one clock is ahead of another; it is negative if behind. The
// other clock is a peer's and may show any number.
func ClockOffset(here, there protocol.Instant) int64 {
	within := func(t protocol.Instant) int64 { return min(max(int64(t), -farthest), farthest) }
	return within(here) - within(there)
}

// ClockBlame is the difference of clocks, in seconds, from which a refusal over a date is
// blamed on them.
const ClockBlame = 300

// Small differences of clocks are harmless: deadlines are minutes and days away.
const (
	Noticeable = 5   // seconds
	Harmful    = 120 // seconds
)
