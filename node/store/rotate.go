package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// ErrRetired reports a state directory whose identity was replaced by a successor. It can be read,
// but nothing more is approved or released from it.
var ErrRetired error = fail.IdentityRetired

// Rotate creates a new identity for a party in a new directory, and copies the ledger to it, so
// that spent budget stays spent. It returns the new identity. Afterwards the old directory refuses
// to approve or debit (ErrRetired). If Rotate is killed, another Rotate with the same directories
// completes it. The caller must make sure that no study runs under the old one.
func (s *Store) Rotate(dir string, entropy io.Reader, at protocol.Instant) (protocol.PeerID, error) {
	id, err := s.rotate(dir, entropy, at)
	if err != nil {
		return id, fmt.Errorf("rotating the identity of %q: %w", s.dir, err)
	}
	return id, nil
}

func (s *Store) rotate(dir string, entropy io.Reader, at protocol.Instant) (protocol.PeerID, error) {
	if err := s.writable(); err != nil {
		return protocol.PeerID{}, err
	}
	next, err := s.successor(dir, entropy)
	if err != nil {
		return protocol.PeerID{}, err
	}
	defer next.Close()
	id, err := next.ID()
	if err != nil {
		return id, err
	}
	// Retire the old identity first: at no time can both spend.
	if err := s.retire(id, at); err != nil {
		return id, err
	}
	if err := next.inherit(s, at); err != nil {
		return id, err
	}
	return id, next.beginLedgerHead()
}

// successor opens the new directory: a fresh one, or that of a Rotate that was killed.
func (s *Store) successor(dir string, entropy io.Reader) (*Store, error) {
	retired, err := s.Retired()
	if err == nil {
		next, err := Open(dir, s.role, Options{})
		if err != nil {
			return nil, err
		}
		if id, err := next.ID(); err != nil || id != retired {
			next.Close()
			return nil, errors.Join(err, fmt.Errorf("%w: its successor is %s, which is not the identity of %q", ErrRetired, retired, dir))
		}
		return next, nil
	}
	if !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if err := Create(dir, s.role, entropy); err != nil {
		return nil, err
	}
	return Open(dir, s.role, Options{})
}

// inheritance is the journal note about an inherited ledger, with its last entry's mark.
func inheritance(entries []ledger.Entry, from protocol.PeerID) string {
	note := fmt.Sprintf("%d ledger entries of %s", len(entries), from)
	if len(entries) > 0 {
		note += ", the last is ledger entry " + ledgerMark(entries[len(entries)-1])
	}
	return note
}

// Retired returns the identity that replaced this one, or ErrNotFound.
func (s *Store) Retired() (protocol.PeerID, error) {
	id, err := retiredIn(s.db)
	if err != nil {
		return id, fmt.Errorf("the successor of this identity: %w", err)
	}
	return id, nil
}

// RetiredAt returns when this identity was replaced, or ErrNotFound.
func (s *Store) RetiredAt() (at protocol.Instant, err error) {
	if err := scan(s.db.QueryRow("SELECT at FROM retired"), &at); err != nil {
		return 0, fmt.Errorf("when this identity was retired: %w", explain(err))
	}
	return at, nil
}

func retiredIn(from interface{ QueryRow(string, ...any) *sql.Row }) (protocol.PeerID, error) {
	var raw []byte
	if err := scan(from.QueryRow("SELECT successor FROM retired"), &raw); err != nil {
		return protocol.PeerID{}, explain(err)
	}
	return protocol.PeerIDFromKey(raw)
}

// inService returns ErrRetired if the identity is retired. It must run in the transaction of the
// write that it guards.
func inService(tx *sql.Tx) error {
	id, err := retiredIn(tx)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return fail.IdentityRetired.Of(fmt.Errorf("its successor is %s", id))
}

func (s *Store) retire(successor protocol.PeerID, at protocol.Instant) error {
	return transact(s.db, func(tx *sql.Tx) error {
		switch before, err := retiredIn(tx); {
		case err == nil && before == successor:
			return nil
		case err != nil && !errors.Is(err, ErrNotFound):
			return err
		}
		if _, err := tx.Exec("INSERT INTO retired (only, successor, at) VALUES (1, ?, ?)", successor[:], int64(at)); err != nil {
			return explain(err)
		}
		return s.journal(tx, journal.Entry{At: at, Event: journal.Retired, Note: "succeeded by " + successor.String()})
	})
}

// inherit copies the ledger of another store, once.
func (s *Store) inherit(from *Store, at protocol.Instant) error {
	entries, err := readLedger(context.Background(), from.db)
	if err != nil {
		return err
	}
	return transact(s.db, func(tx *sql.Tx) error {
		own, err := readLedger(context.Background(), tx)
		if err != nil {
			return err
		}
		for i, e := range entries {
			if len(own) > 0 { // already inherited, in full
				if i >= len(own) || own[i].Hash() != e.Hash() {
					return fmt.Errorf("%w: the new directory's ledger does not begin with all entries of the old one", ErrConflict)
				}
				continue
			}
			raw, err := e.Encode()
			if err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO ledger (seq, raw) VALUES (?, ?)", e.Sequence, raw); err != nil {
				return explain(err)
			}
		}
		if len(own) > 0 {
			return nil
		}
		if err := s.inheritPeople(tx, from); err != nil {
			return err
		}
		id, err := from.ID()
		if err != nil {
			return err
		}
		return s.journal(tx, journal.Entry{At: at, Event: journal.Inherited, Note: inheritance(entries, id)})
	})
}
