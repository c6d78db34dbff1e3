//go:build unix

package console

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cosketch/cosketch/node/config"
)

// told is a writer that signals when a line holds a text.
type told struct {
	mu    sync.Mutex
	text  strings.Builder
	lines chan string
}

func (w *told) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	w.lines <- string(p)
	return len(p), nil
}

// SIGHUP sets the level of the current configuration. An unreadable one changes nothing, and
// --log-level wins.
func TestFollowLevel(t *testing.T) {
	w := &told{lines: make(chan string, 16)}
	c := &Console{Err: w, Format: Text}
	logger := c.Logger(config.Log{Level: slog.LevelWarn})
	next := make(chan config.Log, 1)
	var failure error
	c.FollowLevel(t.Context(), logger, func() (config.Log, error) { return <-next, failure })
	hangup := func(l slog.Level) string {
		t.Helper()
		next <- config.Log{Level: l}
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		return <-w.lines
	}
	logger.Info("not yet")
	if line := hangup(slog.LevelDebug); !strings.Contains(line, `"msg":"log level","level":"DEBUG"`) && !strings.Contains(line, `"log level"`) {
		t.Errorf("said %s", line)
	}
	if !logger.Enabled(context.Background(), slog.LevelDebug) || strings.Contains(w.text.String(), "not yet") {
		t.Errorf("the level did not change, or too early:\n%s", w.text.String())
	}
	failure = errors.New("no such file")
	if line := hangup(slog.LevelError); !strings.Contains(line, "the log level is unchanged") || !logger.Enabled(context.Background(), slog.LevelDebug) {
		t.Errorf("after a failure: %s", line)
	}
	failure, c.level, c.origins = nil, "debug", func(flag string) string { return "flag --" + flag }
	if line := hangup(slog.LevelError); !strings.Contains(line, "given by flag --log-level, which overrides") || !logger.Enabled(context.Background(), slog.LevelDebug) {
		t.Errorf("with --log-level: %s", line)
	}
}
