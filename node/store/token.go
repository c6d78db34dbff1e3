package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol/journal"
)

// shortName matches ids of HTTP API tokens and of invitations.
var shortName = regexp.MustCompile(`^[0-9a-f]{8}$`)

// Backups leave tokens out, so that restoring one does not revive a revoked token.

// PutToken stores the record of a token. The record holds a hash, not the secret. Another record
// under the same id is ErrConflict. Durable when it returns nil.
func (s *Store) PutToken(id string, record []byte) error {
	err := s.writable()
	if err == nil && !shortName.MatchString(id) {
		err = fmt.Errorf("token %.40q: want 8 hexadecimal digits", id)
	}
	if err == nil {
		err = durable.Mkdir(s.path(tokensDir))
	}
	if err == nil {
		if _, there := os.Lstat(s.path(tokensDir, id)); there == nil {
			err = ErrConflict
		}
	}
	if err == nil { // journal first: every token that works is in it
		err = s.Note(journal.Entry{At: now(), Event: journal.TokenMade, Note: fmt.Sprintf("%s (%x)", id, sha256.Sum256(record))})
	}
	if err == nil {
		err = writeFile(s.path(tokensDir, id), record)
	}
	if err != nil {
		return fmt.Errorf("storing token %.40s: %w", id, err)
	}
	return nil
}

// Token returns the record of a token, or ErrNotFound. It refuses a file that others can write to,
// since they could have created it.
func (s *Store) Token(id string) ([]byte, error) {
	if !shortName.MatchString(id) {
		return nil, fmt.Errorf("token %.40q: %w", id, ErrNotFound)
	}
	record, err := private.Read(s.path(tokensDir, id))
	if err != nil {
		return nil, fmt.Errorf("token %s: %w", id, missing(err))
	}
	return record, nil
}

// Tokens returns the ids of the tokens, sorted.
func (s *Store) Tokens() ([]string, error) {
	entries, err := os.ReadDir(s.path(tokensDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("listing tokens: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if shortName.MatchString(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// RemoveToken removes a token, or returns ErrNotFound. Durable when it returns nil.
func (s *Store) RemoveToken(id string) error {
	err := s.writable()
	if err == nil && !shortName.MatchString(id) {
		err = ErrNotFound
	}
	if err == nil {
		err = s.revoke(tokensDir, id, journal.TokenRevoked)
	}
	if err != nil {
		return fmt.Errorf("revoking token %.40s: %w", id, err)
	}
	return nil
}
