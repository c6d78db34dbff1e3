// Package seldom keeps lines out of a log that others can cause as often as they like: of
// each kind and causer there is one a minute, with the number of those that were left out.
package seldom

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Log writes lines seldom. Its methods may be called concurrently.
type Log struct {
	to    *slog.Logger
	clock func() time.Duration
	every time.Duration
	most  int

	mu   sync.Mutex
	said map[about]*line
	next time.Duration // when lines are next looked through
}

// about is what a line is about: of two that are equal, one is left out.
type about struct {
	level     slog.Level
	who, kind string
}

// line is one that was written, and what was left out since.
type line struct {
	at      time.Duration
	leftOut int
}

// others stands for all who are one too many to be told apart.
const others = "others"

// Clock is one that runs evenly, from now on.
func Clock(now func() time.Time) func() time.Duration {
	began := now()
	return func() time.Duration { return now().Sub(began) }
}

// New makes a log that writes a line about the same once in so long, and tells at most so many
// apart meanwhile. The clock runs evenly and is set by nobody.
func New(to *slog.Logger, clock func() time.Duration, every time.Duration, most int) *Log {
	return &Log{to: to, clock: clock, every: every, most: most, said: make(map[about]*line)}
}

// Warn writes a warning that a peer caused, unless one of this kind and peer was just written. Who
// is empty where it is nobody's in particular.
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

// write names who caused a line, where somebody did.
func (l *Log) write(what about, args ...any) {
	if what.who != "" {
		args = append([]any{"peer", what.who}, args...)
	}
	l.to.Log(context.Background(), what.level, what.kind, args...)
}

// Tell writes how many lines were left out that were due a while ago.
func (l *Log) Tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	l.sweep(func(s *line) bool { return now-s.at >= l.every })
}

// Close writes how many lines were left out. The log can be used further.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(func(*line) bool { return true })
}

// sweep forgets lines, and says what was left out after them.
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
