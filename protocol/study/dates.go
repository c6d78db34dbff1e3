package study

import (
	"slices"

	"github.com/cosketch/cosketch/protocol"
)

// AgreeBy is the deadline of an attempt to agree on the seed. A member whose message is missing
// then may be left out of the next attempt. The time between the close of approval and of upload is
// divided evenly, so that the last attempt may take until the deadline. Attempts are counted from
// 1.
func (s *Study) AgreeBy(attempt uint32) protocol.Instant {
	if int64(attempt) >= int64(s.Attempts) {
		return s.Deadline
	}
	return s.Expires + (s.Deadline-s.Expires)*protocol.Instant(attempt)/protocol.Instant(s.Attempts)
}

// Closes is the time after which nothing more can enter a result.
func (s *Study) Closes() protocol.Instant { return max(s.Deadline, s.LateUntil) }

// Dates lists the instants at which the study's state changes by itself, in order.
func (s *Study) Dates() []protocol.Instant {
	dates := []protocol.Instant{s.Expires}
	for attempt := uint32(1); int64(attempt) <= int64(s.Attempts); attempt++ {
		dates = append(dates, s.AgreeBy(attempt))
	}
	if s.LateUntil != 0 {
		dates = append(dates, s.LateUntil)
	}
	if s.TwoRounds() {
		dates = append(dates, s.FirstBy())
		slices.Sort(dates)
	}
	return dates
}
