package aggregator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// A serving aggregator owns its studies, so that another process cannot take a bundle
// in beside it, nor end a study. Such a process puts the bundle, or the request, into the
// inbox, a folder of the state directory, and waits until the aggregator has taken it out.

const (
	inboxDir      = "inbox"
	bundleSuffix  = ".bundle"
	refusedSuffix = ".refused" // why, in place of the bundle or request
)

// emptyInbox takes every bundle and request in that was put there.
func (a *Aggregator) emptyInbox(ctx context.Context) {
	dir := filepath.Join(a.Store.Dir(), inboxDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			a.Logger.Error("inbox cannot be read", "error", err)
		}
		return
	}
	for _, e := range entries {
		path, suffix := filepath.Join(dir, e.Name()), filepath.Ext(e.Name())
		var take func(context.Context, string) error
		switch suffix {
		case bundleSuffix:
			take = a.takeFile
		case cancelSuffix:
			take = a.takeCancellation
		default:
			continue
		}
		err := a.takeSafely(ctx, path, take)
		if err != nil {
			a.Logger.Warn("refused what was in the inbox", "file", e.Name(), "error", err)
			why := strings.TrimSuffix(path, suffix) + refusedSuffix
			if err := os.WriteFile(why, []byte(err.Error()), 0o600); err != nil {
				a.Logger.Error("inbox cannot be written", "error", err)
			}
		}
		if err := os.Remove(path); err != nil {
			a.Logger.Error("inbox cannot be emptied", "error", err)
		}
	}
}

// takeSafely makes an error of a panic: what was in the inbox is refused, and the node goes on.
func (a *Aggregator) takeSafely(ctx context.Context, path string, take func(context.Context, string) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = node.Recovered(a.Logger, protocol.StudyID{}, p)
		}
	}()
	return take(ctx, path)
}

func (a *Aggregator) takeFile(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	label, err := bundle.ReadLabel(f)
	if err != nil {
		return err
	}
	got, err := a.take(ctx, label, f)
	if err == nil {
		a.Logger.Info("took a bundle in", "study", label.Study.Short(), "from", label.From.String(), "messages", got.Messages, "passed over", len(got.Passed), "chunks", got.Chunks)
	}
	return err
}

// HandOver gives a bundle to the aggregator that serves a store in another process,
// and waits until it has taken it in or refused it.
func HandOver(ctx context.Context, st *store.Store, in io.Reader) error {
	if err := handOver(ctx, st, in, bundleSuffix); err != nil {
		return fmt.Errorf("handing the bundle to the serving aggregator: %w", err)
	}
	return nil
}

// handOver puts a file into the inbox, whole, and waits until it was taken.
func handOver(ctx context.Context, st *store.Store, in io.Reader, suffix string) error {
	dir := filepath.Join(st.Dir(), inboxDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "*.part")
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	stem := strings.TrimSuffix(f.Name(), ".part")
	if err := os.Rename(f.Name(), stem+suffix); err != nil {
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
			return fmt.Errorf("%w: it is in %s, for the aggregator to take in", ctx.Err(), dir)
		}
	}
}

// InboxError is what a serving aggregator says of what it was handed and did not take.
type InboxError struct{ Why string }

func (e *InboxError) Error() string { return e.Fail().Error() }

// Fail is what the catalogue says of it.
func (e *InboxError) Fail() *fail.Error { return fail.InboxRefused.New(e.Why) }

// refusedBecause reads why a bundle was refused; there is no such file when it was not.
func refusedBecause(path string) error {
	why, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(&InboxError{string(why)}, os.Remove(path))
}
