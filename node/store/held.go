package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol"
)

// Names of files of a held sketch.
const (
	heldManifestFile = "manifest"
	heldDecisionFile = "decision"
)

// Held is the durable part of a study's held sketch: files that a manifest lists. A new file gets a
// name that was never used before, and does not count until a manifest that lists it is committed.
// Commit is the only step from an old state to a new one; afterwards it overwrites and removes what
// the new manifest does not list. Writers must hold the lock of LockHeld.
type Held interface {
	// Manifest returns the manifest committed last, or ErrNotFound if nothing is held.
	Manifest() ([]byte, error)
	// Open opens a file of the held sketch, or returns ErrNotFound.
	Open(name string) (*File, error)
	// Create creates or replaces a file. The manifest must not list it; it may be a leftover of a
	// writer that was killed. Its bytes are durable when its Close returns nil.
	Create(name string) (io.WriteCloser, error)
	// Commit makes manifest and files, which were created and closed, the held sketch. When it
	// returns nil the change is durable and all other files are gone, including the steward's
	// decision about an earlier state.
	Commit(manifest []byte, files []string) error
	// Discard removes files that were created but never committed.
	Discard(files []string) error
	// Decide records that the steward wants the held sketch released in its present state. Every
	// later Commit revokes the decision. Durable when it returns nil.
	Decide() error
	// Decided reports whether the steward wants the held sketch released in its present state.
	Decided() (bool, error)
	// Destroy overwrites and removes the held sketch. It is no error if there is none. The limits
	// that DestroySecrets describes apply here too.
	Destroy() error
}

// Held returns the held sketch of a study, which need not exist.
func (s *Store) Held(study protocol.StudyID) Held { return &heldSketch{s, study} }

// heldSketch is a held sketch in its own directory.
type heldSketch struct {
	store *Store
	study protocol.StudyID
}

func (h *heldSketch) path(name ...string) string {
	return h.store.path(append([]string{heldDir, h.study.String()}, name...)...)
}

func (h *heldSketch) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the held sketch of study %s: %w", doing, h.study.Short(), err)
}

func (h *heldSketch) Manifest() ([]byte, error) {
	data, err := private.Read(h.path(heldManifestFile))
	return data, h.wrap("reading", missing(err))
}

func (h *heldSketch) Open(name string) (*File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	f, err := openFile(h.path(name))
	if err != nil {
		return nil, h.wrap(fmt.Sprintf("opening %q of", name), err)
	}
	return f, nil
}

// syncedFile syncs its bytes when it is closed.
type syncedFile struct{ *os.File }

func (w syncedFile) Close() error { return errors.Join(w.Sync(), w.File.Close()) }

func (h *heldSketch) Create(name string) (io.WriteCloser, error) {
	f, err := h.create(name)
	if err != nil {
		return nil, h.wrap(fmt.Sprintf("writing %q of", name), err)
	}
	return syncedFile{f}, nil
}

func (h *heldSketch) create(name string) (*os.File, error) {
	if err := h.store.writable(); err != nil {
		return nil, err
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := durable.Mkdir(h.path()); err != nil {
		return nil, err
	}
	return os.OpenFile(h.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (h *heldSketch) Commit(manifest []byte, files []string) error {
	return h.wrap("committing", h.commit(manifest, files))
}

func (h *heldSketch) commit(manifest []byte, files []string) error {
	if err := h.store.writable(); err != nil {
		return err
	}
	if err := durable.Mkdir(h.path()); err != nil {
		return err
	}
	if err := durable.SyncDir(h.path()); err != nil {
		return err
	}
	if err := writeFile(h.path(heldManifestFile), manifest); err != nil {
		return err
	}
	return h.sweep(append(slices.Clone(files), heldManifestFile))
}

func (h *heldSketch) Discard(files []string) error {
	for _, name := range files {
		if err := eraseFile(h.path(name)); err != nil && !os.IsNotExist(err) {
			return h.wrap("tidying", err)
		}
	}
	return nil
}

// sweep erases all files except those to keep.
func (h *heldSketch) sweep(keep []string) error {
	files, err := os.ReadDir(h.path())
	if err != nil {
		return err
	}
	for _, f := range files {
		if slices.Contains(keep, f.Name()) {
			continue
		}
		if err := eraseFile(h.path(f.Name())); err != nil {
			return err
		}
	}
	return durable.SyncDir(h.path())
}

func (h *heldSketch) Decide() error {
	if err := h.store.writable(); err != nil {
		return h.wrap("deciding on", err)
	}
	manifest, err := h.Manifest()
	if err != nil {
		return err
	}
	return h.wrap("deciding on", writeFile(h.path(heldDecisionFile), []byte(digestText(manifest))))
}

func (h *heldSketch) Decided() (bool, error) {
	manifest, err := h.Manifest()
	if err != nil {
		return false, err
	}
	decision, err := private.Read(h.path(heldDecisionFile))
	if errors.Is(missing(err), ErrNotFound) {
		return false, nil
	}
	return string(decision) == digestText(manifest), h.wrap("reading the decision on", err)
}

func digestText(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (h *heldSketch) Destroy() error { return h.wrap("destroying", h.destroy()) }

func (h *heldSketch) destroy() error {
	if err := h.store.writable(); err != nil {
		return err
	}
	if _, err := os.Stat(h.path()); err != nil {
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	// Rename the manifest first, so that it is never seen half overwritten.
	err := durable.Rename(h.path(heldManifestFile), h.path(heldManifestFile+".gone"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := h.sweep(nil); err != nil {
		return err
	}
	if err := os.Remove(h.path()); err != nil {
		return err
	}
	return durable.SyncDir(h.store.path(heldDir))
}

// LockHeld gives the caller the exclusive right to change, release or destroy a study's held
// sketch. If another holds the lock it waits up to patience, then returns ErrBusy. unlock or the
// end of the process releases it.
func (s *Store) LockHeld(study protocol.StudyID, patience time.Duration) (unlock func(), err error) {
	if err := s.writable(); err != nil {
		return nil, fmt.Errorf("locking the held sketch of study %s: %w", study.Short(), err)
	}
	unlock, err = s.lock(study.String()+".held.lock", func(lock *flock.Flock) (bool, error) {
		ok, err := lock.TryLock()
		if err != nil || ok || patience <= 0 {
			return ok, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return lock.TryLockContext(ctx, 20*time.Millisecond)
	})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("locking the held sketch of study %s: %w", study.Short(), err)
	}
	if unlock == nil {
		return nil, fmt.Errorf("locking the held sketch of study %s: %w", study.Short(), ErrBusy)
	}
	return unlock, nil
}
