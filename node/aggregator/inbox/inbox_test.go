package inbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/node/aggregator/inbox"
)

// A file is processed completely, or its sender is told why not; a panic is also a refusal. Nothing
// is left behind.
func TestInbox(t *testing.T) {
	state := t.TempDir()
	var taken bytes.Buffer
	kinds := inbox.Kinds{
		".good":  func(_ context.Context, f io.Reader) error { _, err := io.Copy(&taken, f); return err },
		".bad":   func(context.Context, io.Reader) error { return errors.New("it is bad") },
		".worse": func(context.Context, io.Reader) error { panic("at the disco") },
	}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	for suffix, why := range map[string]string{".good": "", ".bad": "it is bad", ".worse": "internal error"} {
		told := make(chan error)
		go func() { told <- inbox.HandOver(t.Context(), state, strings.NewReader("all of it"), suffix) }()
		var err error
		for waits := true; waits; {
			select {
			case err = <-told:
				waits = false
			default:
				inbox.Empty(t.Context(), state, kinds, logger)
			}
		}
		var refused *inbox.RefusedError
		if (why == "") != (err == nil) || err != nil && (!errors.As(err, &refused) || !strings.Contains(refused.Why, why)) {
			t.Errorf("%s: %v, want %q", suffix, err, why)
		}
		if why != "" && !strings.Contains(log.String(), suffix) {
			t.Errorf("the log says nothing of %s:\n%s", suffix, log.String())
		}
	}
	if taken.String() != "all of it" {
		t.Errorf("took %q", taken.String())
	}
	if left, err := os.ReadDir(filepath.Join(state, "inbox")); err != nil || len(left) > 0 {
		t.Errorf("left are %v (%v)", left, err)
	}
}

// If nobody processes the file, the wait ends with the context, and the file stays for later.
func TestHandingOverEndsWithItsContext(t *testing.T) {
	state := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := inbox.HandOver(ctx, state, strings.NewReader("x"), ".good"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(filepath.Join(state, "inbox")); err != nil || len(left) != 1 || filepath.Ext(left[0].Name()) != ".good" {
		t.Errorf("left are %v (%v)", left, err)
	}
}

// What a sender left that stopped waiting or was killed is removed after a day, and no other file.
func TestStaleFilesAreRemoved(t *testing.T) {
	state := t.TempDir()
	dir := filepath.Join(state, "inbox")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{
		"old.refused": 25 * time.Hour, "new.refused": time.Hour, "old.part": 25 * time.Hour, "new.part": time.Hour, "old.other": 25 * time.Hour,
	} {
		path, at := filepath.Join(dir, name), time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	inbox.Empty(t.Context(), state, nil, slog.New(slog.DiscardHandler))
	entries, err := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"new.part", "new.refused", "old.other"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %q (%v), want %q", left, err, want)
	}
}
