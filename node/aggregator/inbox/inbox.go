// Package inbox passes files to the process that serves a store. A serving aggregator owns its
// studies, so no other process can import a bundle or end a study at the same time. Instead that
// process puts the bundle or the request into the inbox, a folder of the state directory, and waits
// until the aggregator has removed it.
package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// refusedSuffix is the suffix of a file with the reason for a refusal, which replaces the refused
// file. partSuffix is that of a file that its sender is still writing.
const (
	refusedSuffix = ".refused"
	partSuffix    = ".part"
)

// stale is the age from which a refusal or an incomplete file has no sender any more: a sender
// reads its refusal within a moment.
const stale = 24 * time.Hour

// Kinds maps the suffixes of files that an inbox accepts to the functions that process them.
type Kinds map[string]func(ctx context.Context, f io.Reader) error

// Empty processes all files of these kinds in the inbox of a state directory. A refusal is reported
// to the sender and in the log. Empty removes what senders left that stopped waiting or were killed.
func Empty(ctx context.Context, state string, kinds Kinds, log *slog.Logger) {
	dir := filepath.Join(state, store.InboxDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			log.Error("inbox cannot be read", "error", err)
		}
		return
	}
	for _, e := range entries {
		path, suffix := filepath.Join(dir, e.Name()), filepath.Ext(e.Name())
		take := kinds[suffix]
		if take == nil {
			if err := removeStale(path, e); err != nil {
				log.Error("inbox cannot be emptied", "error", err)
			}
			continue
		}
		if err := takeFile(ctx, path, take, log); err != nil {
			log.Warn("refused what was in the inbox", "file", e.Name(), "error", err)
			why := strings.TrimSuffix(path, suffix) + refusedSuffix
			if err := os.WriteFile(why, []byte(err.Error()), 0o600); err != nil {
				log.Error("inbox cannot be written", "error", err)
			}
		}
		if err := os.Remove(path); err != nil {
			log.Error("inbox cannot be emptied", "error", err)
		}
	}
}

// removeStale removes a refusal that nobody read, and a file that nobody completes.
func removeStale(path string, e fs.DirEntry) error {
	if suffix := filepath.Ext(path); suffix != refusedSuffix && suffix != partSuffix {
		return nil
	}
	info, err := e.Info()
	if err == nil && time.Since(info.ModTime()) > stale {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) { // its sender removed it meanwhile
		return nil
	}
	return err
}

// takeFile turns a panic into an error: the file is refused, and the node goes on.
func takeFile(ctx context.Context, path string, take func(context.Context, io.Reader) error, log *slog.Logger) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = node.Recovered(log, protocol.StudyID{}, p)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return take(ctx, f)
}

// HandOver puts a complete file into the inbox of a state directory, and waits until it is
// processed. suffix is its kind. If ctx ends before that, the file stays, even after a power cut.
func HandOver(ctx context.Context, state string, in io.Reader, suffix string) error {
	dir := filepath.Join(state, store.InboxDir)
	if err := durable.Mkdir(dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "*"+partSuffix)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	stem := strings.TrimSuffix(f.Name(), partSuffix)
	if err := durable.Rename(f.Name(), stem+suffix); err != nil {
		return err
	}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		_, err := os.Stat(stem + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			return refusedBecause(stem + refusedSuffix)
		}
		if err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: the file stays in %s until the aggregator processes it", ctx.Err(), dir)
		}
	}
}

// RefusedError reports that a serving aggregator refused a file, and why.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Fail().Error() }

func (e *RefusedError) Fail() *fail.Error { return fail.InboxRefused.New(e.Why) }

// refusedBecause returns the reason for a refusal; it returns nil if the file was not refused.
func refusedBecause(path string) error {
	why, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(&RefusedError{string(why)}, os.Remove(path))
}
