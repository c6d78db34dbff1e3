// Package seldom rate-limits log lines that others can cause as often as they like. It writes one
// line per kind and peer in each interval, with the number of those left out.
package seldom

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Log is a rate-limited log. Its methods are safe for concurrent use.
type Log struct {
	to    *slog.Logger
	clock func() time.Duration
	every time.Duration
	most  int

	mu   sync.Mutex
	said map[about]*line
	next time.Duration // when expired lines are next swept
}

// about is the key of a line: equal ones are rate-limited together.
type about struct {
	level     slog.Level
	who, kind string
}

// line records when a line was written, and how many were left out since.
type line struct {
	at      time.Duration
	leftOut int
}

// others stands for all peers beyond the number that is tracked.
const others = "others"

// Clock returns a monotonic clock that starts now.
func Clock(now func() time.Time) func() time.Duration {
	began := now()
	return func() time.Duration { return now().Sub(began) }
}

// New makes a log that writes equal lines once in every, and tracks at most most keys. The clock
// must be monotonic.
func New(to *slog.Logger, clock func() time.Duration, every time.Duration, most int) *Log {
	return &Log{to: to, clock: clock, every: every, most: most, said: make(map[about]*line)}
}

// Warn writes a warning that a peer caused, unless one of this kind and peer was just written. who
// is empty if no peer in particular caused it.
func (l *Log) Warn(who, kind string, args ...any) { l.say(slog.LevelWarn, who, kind, args) }

func (l *Log) Error(who, kind string, args ...any) { l.say(slog.LevelError, who, kind, args) }

func (l *Log) say(level slog.Level, who, kind string, args []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	if now >= l.next {
		l.sweep(func(s *line) bool { return now-s.at >= l.every })
		l.next = now + l.every/8
	}
	what := about{level, who, kind}
	s := l.said[what]
	if s == nil && len(l.said) >= l.most {
		what.who = others
		s = l.said[what]
	}
	if s == nil {
		l.said[what] = &line{at: now}
	} else if now-s.at < l.every {
		s.leftOut++
		return
	} else {
		if s.leftOut > 0 {
			args = append(slices.Clip(args), "left_out", s.leftOut)
		}
		*s = line{at: now}
	}
	l.write(what, args...)
}

// write adds the peer that caused a line, if any.
func (l *Log) write(what about, args ...any) {
	if what.who != "" {
		args = append([]any{"peer", what.who}, args...)
	}
	l.to.Log(context.Background(), what.level, what.kind, args...)
}

// Tell writes the counts of left-out lines whose interval is over.
func (l *Log) Tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	l.sweep(func(s *line) bool { return now-s.at >= l.every })
}

// Close writes all counts of left-out lines. The log can still be used.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(func(*line) bool { return true })
}

// sweep forgets due lines and writes how many were left out after each.
func (l *Log) sweep(due func(*line) bool) {
	var gone []about
	for what, s := range l.said {
		if due(s) {
			gone = append(gone, what)
		}
	}
	slices.SortFunc(gone, func(a, b about) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.who, b.who), cmp.Compare(a.level, b.level))
	})
	for _, what := range gone {
		if n := l.said[what].leftOut; n > 0 {
			l.write(what, "left_out", n)
		}
		delete(l.said, what)
	}
}
