package aggregator

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// A date that comes while an aggregator serves its study takes effect at once. One that has
// passed when a study is taken up, or when the clock goes forward all at once, kept parties
// out that would have been in time; or it has not come at all, and the clock is wrong, where
// a stop is for good. So it takes effect only after a while, and until then the study's
// machine is told the moment before it and takes what arrives. Where several dates have
// passed, each has a while of its own, in their order.

// patience is that while. By whom it is measured nobody sets.
const patience = 10 * time.Minute

// leap is by how many seconds a clock goes forward all at once that was set, or whose
// machine slept.
const leap = 120

// grace is what a study's goroutine knows of dates that may have passed unseen.
type grace struct {
	study  *study.Study
	now    func() protocol.Instant
	uptime func() time.Duration // nil: served for one command, in which nobody comes
	log    *slog.Logger

	lastNoted protocol.Instant // the newest entry of the journal when the aggregator started; 0: not known
	seen      protocol.Instant // the clock at the last look; 0 before the first
	up        time.Duration    // uptime then
	behind    bool             // dates have passed that the machine was not told of
	date      protocol.Instant // the one that waits; 0: none
	until     time.Duration    // the uptime from which it counts
	counts    protocol.Instant // the same by the clock
}

// instant is the time to tell the machine, which says when its next date is due.
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

// warn says that a date waits, and since when nothing is known: the clock before it leapt, or
// the newest entry that the journal had when the aggregator started.
func (g *grace) warn(before protocol.Instant) {
	about := []any{"study", g.study.ID.Short(), "date", g.date.String(), "clock", g.seen.String()}
	if before == 0 {
		before = g.lastNoted
	}
	if before != 0 {
		about = append(about, "last_seen", before.String())
	}
	g.log.Warn("by this machine's clock a date of the study has passed: it takes effect in ten minutes, and who comes until then is in time; if the clock is wrong, stop the aggregator, set the clock and start it again, and nothing is lost", about...)
}

// text is what a status says of it.
func (g *grace) text() string {
	if g.date == 0 {
		return ""
	}
	return fmt.Sprintf("by this machine's clock %s has passed: it takes effect at %s, and who comes until then is in time; if the clock is wrong, stop the aggregator, set the clock and start it again, and nothing is lost", g.date, g.counts)
}
