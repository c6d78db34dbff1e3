package node

import (
	"fmt"
	"time"

	"github.com/cosketch/cosketch/protocol"
)

// Moment formats a time for people, without the date if it is today.
func Moment(t, now protocol.Instant) string {
	at, today := time.Unix(int64(t), 0).UTC(), time.Unix(int64(now), 0).UTC()
	if at.Format(time.DateOnly) == today.Format(time.DateOnly) {
		return at.Format("15:04 UTC")
	}
	return at.Format("2 Jan 2006, 15:04 UTC")
}

// Distance says how far away a time is, rounded towards now.
func Distance(t, now protocol.Instant) string {
	if t < now {
		return length(int64(now-t)) + " ago"
	}
	return "in " + length(int64(t-now))
}

// length formats seconds in the largest unit of which there are at least two.
func length(seconds int64) string {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60 // a time.Duration would overflow at 292 years
	switch {
	case seconds < 2*minute:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 2*hour:
		return fmt.Sprintf("%d min", seconds/minute)
	case seconds < 2*day:
		return fmt.Sprintf("%d h", seconds/hour)
	}
	return fmt.Sprintf("%d days", seconds/day)
}

// Until says when a wait ends and how long that is from now.
func Until(t, now protocol.Instant) string {
	left := "over"
	if t > now {
		left = Distance(t, now)
	}
	return fmt.Sprintf("until %s (%s)", Moment(t, now), left)
}
