package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/protocol/journal"
)

// revokedSuffix marks a token or an invitation that is revoked and about to be removed.
const revokedSuffix = ".revoked"

// revoke durably removes a token or an invitation, or returns ErrNotFound. It renames it, so that it
// is no longer valid, journals the revocation, and removes it. If it is killed in between, the next
// call for anything in the same directory completes it.
func (s *Store) revoke(dir, id string, event journal.Event) error {
	left, err := s.forgetRevoked(dir, event)
	if err != nil {
		return err
	}
	err = missing(durable.Rename(s.path(dir, id), s.path(dir, id+revokedSuffix)))
	if errors.Is(err, ErrNotFound) && slices.Contains(left, id) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = s.forgetRevoked(dir, event)
	return err
}

// forgetRevoked journals and removes what was renamed, and returns its ids.
func (s *Store) forgetRevoked(dir string, event journal.Event) (ids []string, err error) {
	gone, err := filepath.Glob(s.path(dir, "*"+revokedSuffix))
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	for _, path := range gone {
		id := strings.TrimSuffix(filepath.Base(path), revokedSuffix)
		if err := s.Note(journal.Entry{At: now(), Event: event, Note: id}); err != nil {
			return ids, err
		}
		if err := os.RemoveAll(path); err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, durable.SyncDir(s.path(dir))
}
