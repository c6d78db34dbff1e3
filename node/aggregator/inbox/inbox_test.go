package inbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
