package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol/journal"
)

// An invitation is a directory under invitations/, named by its id. Each file has one writer: the
// command that makes the invitation writes the record, the serving node writes the introduction,
// and another command records that the operator accepted it. Revoking renames the directory, so a
// concurrent write into it fails.
//
// Backups leave invitations out, like tokens, so that restoring one does not reopen a used or
// revoked invitation.
const (
	recordFile       = "record"
	introductionFile = "introduction"
	acceptedFile     = "accepted"
)

// MostInvitations bounds how many invitations a node holds at a time.
const MostInvitations = 256

// PutInvitation stores the record of an invitation, which holds no secret. A second one with the
// same id is ErrConflict. Durable when it returns nil.
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
	if err == nil { // journal first: every invitation that works is in it
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
		return fmt.Errorf("there are %d invitations, the most that are kept (revoke one with aggregator advanced invitation revoke)", len(ids))
	}
	if _, there := os.Lstat(s.path(invitationsDir, id)); there == nil {
		return ErrConflict
	}
	return nil
}

// Invitations returns the ids of the invitations that were not revoked, sorted.
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

// Invitation returns the record of an invitation, or ErrNotFound. It refuses a file that others can
// write to, since they could have created it.
func (s *Store) Invitation(id string) ([]byte, error) { return s.ofInvitation(id, recordFile) }

// Introduction returns the introduction that was sent with an invitation, or ErrNotFound.
func (s *Store) Introduction(id string) ([]byte, error) { return s.ofInvitation(id, introductionFile) }

// Accepted reports whether the operator has accepted the introduction.
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

// PutIntroduction stores the introduction sent with an invitation, for good: storing equal bytes
// again is a no-op, other bytes are ErrConflict. It returns ErrNotFound if the invitation was
// revoked meanwhile. Only the serving node calls it. Durable when it returns nil.
func (s *Store) PutIntroduction(id string, introduction []byte) error {
	return s.markInvitation(id, introductionFile, introduction, journal.InvitationUsed)
}

// PutAccepted records that the operator has accepted the introduction. Repeating it is a no-op.
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
	if err == nil && event != "" { // journal first: everything that counts is in it
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

// RemoveInvitation removes an invitation and its introduction for good, or returns ErrNotFound.
// Durable when it returns nil.
func (s *Store) RemoveInvitation(id string) error {
	err := s.writable()
	if err == nil && !shortName.MatchString(id) {
		err = ErrNotFound
	}
	if err == nil {
		err = s.revoke(invitationsDir, id, journal.InvitationRevoked)
	}
	if err != nil {
		return fmt.Errorf("revoking invitation %.40s: %w", id, err)
	}
	return nil
}
