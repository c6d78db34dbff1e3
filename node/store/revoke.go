package store

import (
	"errors"
	"os"
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
	entries, err := os.ReadDir(s.path(dir))
	if err != nil {
		return nil, missing(err)
	}
	for _, e := range entries {
		id, revoked := strings.CutSuffix(e.Name(), revokedSuffix)
		if !revoked {
			continue
		}
		if err := s.Note(journal.Entry{At: now(), Event: event, Note: id}); err != nil {
			return ids, err
		}
		if err := os.RemoveAll(s.path(dir, e.Name())); err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return ids, durable.SyncDir(s.path(dir))
}
