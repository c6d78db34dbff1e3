package aggregator

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// A date that comes while an aggregator serves its study takes effect at once. A date may also have
// passed when a study is taken up, or when the clock leaps forward. Then it shut out parties that
// would have been in time; or the clock is wrong and the date has not come, yet a stop would be
// final. So it takes effect only after a grace period. Until then the study's machine is told the
// moment before the date, and accepts what arrives. If several dates have passed, each has its own
// grace period, in order.

// patience is the grace period. It is measured by a clock that nobody sets.
const patience = 10 * time.Minute

// leap is the number of seconds beyond which a jump forward means that the clock was set or the
// machine slept.
const leap = 120

// grace is what a study's goroutine knows of dates that may have passed unnoticed.
type grace struct {
	study  *study.Study
	now    func() protocol.Instant
	uptime func() time.Duration // nil: served for one command, during which nobody connects
	log    *slog.Logger

	lastNoted protocol.Instant // the newest entry of the journal when the aggregator started; 0: unknown
	seen      protocol.Instant // the clock at the last look; 0 before the first
	up        time.Duration    // uptime then
	behind    bool             // dates have passed of which the machine was not told
	date      protocol.Instant // the date that waits; 0: none
	until     time.Duration    // the uptime from which it takes effect
	counts    protocol.Instant // the same by the clock
}

// instant is the time to tell the machine; due returns the machine's next date.
func (g *grace) instant(due func() protocol.Instant) protocol.Instant {
	now := g.now()
	if g.uptime == nil {
		return now
	}
	up := g.uptime()
	if g.seen == 0 || now-g.seen-protocol.Instant((up-g.up)/time.Second) > leap {
		g.behind, g.date = true, 0
	}
	before := g.seen
	g.seen, g.up = now, up
	if !g.behind {
		return now
	}
	date := due()
	if date == 0 || date > now {
		g.behind, g.date = false, 0
		return now
	}
	if date != g.date {
		g.date, g.until, g.counts = date, up+patience, now+protocol.Instant(patience/time.Second)
		g.warn(before)
	}
	if up < g.until {
		return date - 1
	}
	for _, next := range g.study.Dates() {
		if next > date {
			return min(now, next-1)
		}
	}
	return now
}

// warn logs that a date waits, and when the node last knew the time: before the clock leapt, or at
// the newest journal entry when the aggregator started.
func (g *grace) warn(before protocol.Instant) {
	about := []any{"study", g.study.ID.Short(), "date", g.date.String(), "clock", g.seen.String()}
	if before == 0 {
		before = g.lastNoted
	}
	if before != 0 {
		about = append(about, "last_seen", before.String())
	}
	g.log.Warn("by this machine's clock a date of the study has passed: it takes effect in ten minutes, and what parties send before then is in time; if the clock is wrong, stop the aggregator, set the clock and start it again: nothing is lost", about...)
}

// text is the text for a status.
func (g *grace) text() string {
	if g.date == 0 {
		return ""
	}
	return fmt.Sprintf("by this machine's clock %s has passed: it takes effect at %s, and what parties send before then is in time; if the clock is wrong, stop the aggregator, set the clock and start it again: nothing is lost", g.date, g.counts)
}
