package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
)

// ClockError reports a date that ended or refused something, between two nodes whose clocks
// differ: one of them is wrong, and that may be all that is.
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
	return fmt.Sprintf("%s: %s, and %s", ClocksDiffer(e.Ahead), fail.ClocksDiffer.Remedy(), then)
}

func (e *ClockError) Unwrap() error { return e.Err }

// ClocksDiffer says by how many seconds this clock is ahead of the aggregator's.
func ClocksDiffer(ahead int64) string {
	word := "ahead of"
	if ahead < 0 {
		ahead, word = -ahead, "behind"
	}
	return fmt.Sprintf("this clock is %s %s the aggregator's", inWords(ahead), word)
}

// inWords is a number of seconds in words. A time.Duration ends at 292 years.
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

// farthest bounds what two clocks are taken to differ by, in seconds.
const farthest = 1 << 50

// Apart is how many seconds one clock is ahead of another, negative where it is behind. The
// other is a peer's, and may be any number.
func Apart(here, there protocol.Instant) int64 {
	within := func(t protocol.Instant) int64 { return min(max(int64(t), -farthest), farthest) }
	return within(here) - within(there)
}

// TellingDifference is how far clocks may lie apart before a date's refusal is laid to
// them, in seconds.
const TellingDifference = 300

// Clocks may differ by a little; deadlines are minutes and days.
const (
	Noticeable = 5   // seconds
	Harmful    = 120 // seconds
)
