package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol/journal"
)

// An invitation is a directory under invitations/, named by its id. Its record is written by the command that makes
// it, the introduction by the node that serves, and what the operator accepted by a command: no file has two writers.
// To revoke is to rename the directory, so that whoever writes into it meanwhile finds nothing.
//
// Backups leave invitations out, as they do tokens: one that was used or revoked is not to be open again.
const (
	recordFile       = "record"
	introductionFile = "introduction"
	acceptedFile     = "accepted"
)

// MostInvitations is how many a node keeps at a time.
const MostInvitations = 256

// PutInvitation keeps the record of an invitation, which holds no secret. Another one of the same id is ErrConflict.
// Durable when it returns nil.
func (s *Store) PutInvitation(id string, record []byte) error {
	err := s.writable()
	if err == nil && !shortName.MatchString(id) {
		err = fmt.Errorf("want 8 hexadecimal digits")
	}
	if err == nil {
		err = durable.Mkdir(s.path(invitationsDir))
	}
	if err == nil {
		err = s.roomForInvitation(id)
	}
	if err == nil { // the journal first: no invitation works that is not in it
		err = s.Note(journal.Entry{At: now(), Event: journal.InvitationMade, Note: fmt.Sprintf("%s (%x)", id, sha256.Sum256(record))})
	}
	if err == nil {
		err = durable.Mkdir(s.path(invitationsDir, id))
	}
	if err == nil {
		err = writeFile(s.path(invitationsDir, id, recordFile), record)
	}
	if err != nil {
		return fmt.Errorf("storing invitation %.40s: %w", id, err)
	}
	return nil
}

func (s *Store) roomForInvitation(id string) error {
	ids, err := s.Invitations()
	if err != nil {
		return err
	}
	if len(ids) >= MostInvitations {
		return fmt.Errorf("there are %d, and no more are kept (aggregator advanced invitation revoke ends one)", len(ids))
	}
	if _, there := os.Lstat(s.path(invitationsDir, id)); there == nil {
		return ErrConflict
	}
	return nil
}

// Invitations lists the ids of the invitations that were not revoked, sorted; none where there are none.
func (s *Store) Invitations() ([]string, error) {
	entries, err := os.ReadDir(s.path(invitationsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing invitations: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if shortName.MatchString(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// Invitation returns the record of an invitation, or ErrNotFound. One that others can write to is refused: they could
// have put it there.
func (s *Store) Invitation(id string) ([]byte, error) { return s.ofInvitation(id, recordFile) }

// Introduction returns what came under an invitation, or ErrNotFound.
func (s *Store) Introduction(id string) ([]byte, error) { return s.ofInvitation(id, introductionFile) }

// Accepted reports whether the operator has accepted what came under an invitation.
func (s *Store) Accepted(id string) (bool, error) {
	_, err := s.ofInvitation(id, acceptedFile)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (s *Store) ofInvitation(id, file string) ([]byte, error) {
	if !shortName.MatchString(id) {
		return nil, fmt.Errorf("invitation %.40q: %w", id, ErrNotFound)
	}
	raw, err := private.Read(s.path(invitationsDir, id, file))
	if err != nil {
		return nil, fmt.Errorf("invitation %s: %w", id, missing(err))
	}
	return raw, nil
}

// PutIntroduction keeps what came under an invitation, for good: the same again changes nothing, other bytes are
// ErrConflict, and where the invitation was revoked meanwhile it is ErrNotFound. The node that serves is its only
// writer. Durable when it returns nil.
func (s *Store) PutIntroduction(id string, introduction []byte) error {
	return s.markInvitation(id, introductionFile, introduction, journal.InvitationUsed)
}

// PutAccepted keeps that the operator has accepted what came under an invitation; again it changes nothing.
func (s *Store) PutAccepted(id string) error {
	return s.markInvitation(id, acceptedFile, []byte("accepted\n"), "")
}

func (s *Store) markInvitation(id, file string, data []byte, event journal.Event) error {
	err := s.writable()
	if err == nil {
		_, err = s.Invitation(id)
	}
	if err == nil {
		var old []byte
		switch old, err = s.ofInvitation(id, file); {
		case err == nil && string(old) == string(data):
			return nil
		case err == nil:
			err = ErrConflict
		case errors.Is(err, ErrNotFound):
			err = nil
		}
	}
	if err == nil && event != "" { // the journal first: nothing counts that is not in it
		err = s.Note(journal.Entry{At: now(), Event: event, Note: fmt.Sprintf("%s (%x)", id, sha256.Sum256(data)), Bytes: int64(len(data))})
	}
	if err == nil {
		err = missing(writeFile(s.path(invitationsDir, id, file), data))
	}
	if err != nil {
		return fmt.Errorf("storing %s of invitation %.40s: %w", file, id, err)
	}
	return nil
}

// RemoveInvitation forgets an invitation and what came under it, for good, or is ErrNotFound. Durable when it returns
// nil.
func (s *Store) RemoveInvitation(id string) error {
	err := s.writable()
	if err == nil && !shortName.MatchString(id) {
		err = ErrNotFound
	}
	if err == nil {
		err = s.forgetRevoked() // of a process that was killed
	}
	if err == nil {
		err = missing(durable.Rename(s.path(invitationsDir, id), s.path(invitationsDir, id+revokedSuffix)))
	}
	if err == nil {
		err = s.Note(journal.Entry{At: now(), Event: journal.InvitationRevoked, Note: id})
	}
	if err == nil {
		err = s.forgetRevoked()
	}
	if err != nil {
		return fmt.Errorf("revoking invitation %.40s: %w", id, err)
	}
	return nil
}

// revokedSuffix ends the name of a directory that is about to be removed.
const revokedSuffix = ".revoked"

func (s *Store) forgetRevoked() error {
	gone, err := filepath.Glob(s.path(invitationsDir, "*"+revokedSuffix))
	for _, dir := range gone {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}
