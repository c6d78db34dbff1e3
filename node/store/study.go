package store

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/gofrs/flock"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
)

// StudyEntry is a study in the store's list.
type StudyEntry struct {
	ID    protocol.StudyID
	Added protocol.Instant
}

// PutStudy stores a study file's bytes under its id, which the caller has computed from them.
// Storing it again is a no-op. Durable when it returns nil.
func (s *Store) PutStudy(id protocol.StudyID, source []byte, added protocol.Instant) error {
	err := transact(s.db, func(tx *sql.Tx) error {
		stored, err := changed(tx.Exec("INSERT INTO studies (id, source, added) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", id[:], source, int64(added)))
		if err != nil || !stored {
			return err
		}
		return s.journal(tx, journal.Entry{At: added, Event: journal.Added, Study: id.String()})
	})
	if err != nil {
		return fmt.Errorf("storing study %s: %w", id.Short(), explain(err))
	}
	return nil
}

// Study returns a study file's bytes, or ErrNotFound.
func (s *Store) Study(id protocol.StudyID) ([]byte, error) {
	var source []byte
	if err := scan(s.db.QueryRow("SELECT source FROM studies WHERE id = ?", id[:]), &source); err != nil {
		return nil, fmt.Errorf("study %s: %w", id.Short(), explain(err))
	}
	return source, nil
}

// Studies returns all studies, oldest first.
func (s *Store) Studies() ([]StudyEntry, error) {
	studies, err := collect(s.db, func(rows *sql.Rows) (StudyEntry, error) {
		var id []byte
		var e StudyEntry
		err := rows.Scan(&id, &e.Added)
		copy(e.ID[:], id)
		return e, err
	}, "SELECT id, added FROM studies ORDER BY added, rowid")
	if err != nil {
		return nil, fmt.Errorf("listing studies: %w", explain(err))
	}
	return studies, nil
}

// minPrefix is the shortest prefix of an id that FindStudy accepts.
const minPrefix = 4

// FindStudy returns the one study whose id begins with these hexadecimal digits,
// at least four. It returns ErrNotFound for none and ErrAmbiguous for several.
func (s *Store) FindStudy(prefix string) (protocol.StudyID, error) {
	prefix = strings.ToLower(prefix)
	even := prefix
	if len(even)%2 == 1 {
		even += "0"
	}
	if _, err := hex.DecodeString(even); err != nil || len(prefix) < minPrefix || len(prefix) > 64 {
		return protocol.StudyID{}, fmt.Errorf("study %.80q: want the first %d to 64 hexadecimal digits of its id", prefix, minPrefix)
	}
	studies, err := s.Studies()
	if err != nil {
		return protocol.StudyID{}, err
	}
	var found []protocol.StudyID
	for _, e := range studies {
		if strings.HasPrefix(e.ID.String(), prefix) {
			found = append(found, e.ID)
		}
	}
	switch len(found) {
	case 0:
		return protocol.StudyID{}, fmt.Errorf("study %s: %w", prefix, ErrNotFound)
	case 1:
		return found[0], nil
	}
	return protocol.StudyID{}, fmt.Errorf("study %s: %w: %d studies begin so, such as %s and %s", prefix, ErrAmbiguous, len(found), found[0], found[1])
}

// Decision is a party's decision on a study.
type Decision string

// The decisions. A withdrawal is final.
const (
	Approve  Decision = "approve"
	Decline  Decision = "decline"
	Withdraw Decision = "withdraw"
)

// Event returns the journal event of a decision.
func (d Decision) Event() journal.Event {
	return map[Decision]journal.Event{Approve: journal.Approved, Decline: journal.Declined, Withdraw: journal.Withdrawn}[d]
}

// PutDecision records a decision; the newest one counts. After a withdrawal every other decision is
// ErrConflict. Durable when it returns nil.
func (s *Store) PutDecision(study protocol.StudyID, decision Decision, at protocol.Instant) error {
	err := transact(s.db, func(tx *sql.Tx) error {
		if decision == Approve {
			if err := inService(tx); err != nil {
				return err
			}
		}
		var withdrawn bool
		if err := scan(tx.QueryRow("SELECT EXISTS (SELECT 1 FROM decisions WHERE study = ? AND decision = ?)",
			study[:], string(Withdraw)), &withdrawn); err != nil {
			return err
		}
		if withdrawn {
			if decision == Withdraw {
				return nil
			}
			return fmt.Errorf("%w: it was withdrawn, which is final", ErrConflict)
		}
		if _, err := tx.Exec("INSERT INTO decisions (study, decision, at) VALUES (?, ?, ?)", study[:], string(decision), int64(at)); err != nil {
			return err
		}
		return s.journal(tx, journal.Entry{At: at, Event: decision.Event(), Study: study.String()})
	})
	if err != nil {
		return fmt.Errorf("recording decision %s on study %s: %w", decision, study.Short(), explain(err))
	}
	return nil
}

// Decision returns the decision that counts and when it was made, or ErrNotFound.
func (s *Store) Decision(study protocol.StudyID) (Decision, protocol.Instant, error) {
	var decision Decision
	var at protocol.Instant
	err := scan(s.db.QueryRow("SELECT decision, at FROM decisions WHERE study = ? ORDER BY seq DESC LIMIT 1", study[:]), &decision, &at)
	if err != nil {
		return "", 0, fmt.Errorf("decision on study %s: %w", study.Short(), explain(err))
	}
	return decision, at, nil
}

// Decided is a decision with its time.
type Decided struct {
	Decision Decision
	At       protocol.Instant
}

// Decisions returns every decision on a study, oldest first: the last one counts.
func (s *Store) Decisions(study protocol.StudyID) ([]Decided, error) {
	all, err := collect(s.db, func(rows *sql.Rows) (d Decided, err error) { return d, rows.Scan(&d.Decision, &d.At) },
		"SELECT decision, at FROM decisions WHERE study = ? ORDER BY seq", study[:])
	if err != nil {
		return nil, fmt.Errorf("decisions on study %s: %w", study.Short(), explain(err))
	}
	return all, nil
}

// PutCosignature stores a second person's approval of a study, as a line that the caller has
// verified. Durable when it returns nil.
func (s *Store) PutCosignature(study protocol.StudyID, by protocol.PeerID, line string, at protocol.Instant) error {
	err := transact(s.db, func(tx *sql.Tx) error {
		kept, err := changed(tx.Exec("INSERT INTO cosignatures (study, line) VALUES (?, ?) ON CONFLICT DO NOTHING", study[:], line))
		if err != nil || !kept {
			return err
		}
		return s.journal(tx, journal.Entry{At: at, Event: journal.Cosigned, Study: study.String(), Note: "by " + by.String()})
	})
	if err != nil {
		return fmt.Errorf("storing a cosignature of study %s: %w", study.Short(), explain(err))
	}
	return nil
}

// Cosignatures returns the lines that PutCosignature stored for a study.
func (s *Store) Cosignatures(study protocol.StudyID) ([]string, error) {
	lines, err := collect(s.db, func(rows *sql.Rows) (line string, err error) { return line, rows.Scan(&line) },
		"SELECT line FROM cosignatures WHERE study = ? ORDER BY rowid", study[:])
	if err != nil {
		return nil, fmt.Errorf("reading the cosignatures of study %s: %w", study.Short(), explain(err))
	}
	return lines, nil
}

// PutStatus replaces the JSON snapshot that status commands show for a study. Durable when it
// returns nil.
func (s *Store) PutStatus(study protocol.StudyID, json []byte) error {
	known, err := changed(s.db.Exec("UPDATE studies SET status = ? WHERE id = ?", json, study[:]))
	if err == nil && !known {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("storing the status of study %s: %w", study.Short(), explain(err))
	}
	return nil
}

// Status returns the newest snapshot of a study, or ErrNotFound.
func (s *Store) Status(study protocol.StudyID) ([]byte, error) {
	var json []byte
	err := scan(s.db.QueryRow("SELECT status FROM studies WHERE id = ? AND status IS NOT NULL", study[:]), &json)
	if err != nil {
		return nil, fmt.Errorf("status of study %s: %w", study.Short(), explain(err))
	}
	return json, nil
}

// LockStudy makes the caller the only one that serves a study. It does not wait: it returns
// ErrLocked while another process or another caller holds the lock. unlock or the end of the
// process releases it.
func (s *Store) LockStudy(study protocol.StudyID) (unlock func(), err error) {
	if err := s.writable(); err != nil {
		return nil, fmt.Errorf("locking study %s: %w", study.Short(), err)
	}
	unlock, err = s.lock(study.String()+".lock", (*flock.Flock).TryLock)
	if err != nil {
		return nil, fmt.Errorf("locking study %s: %w", study.Short(), err)
	}
	if unlock == nil {
		return nil, fmt.Errorf("locking study %s: %w", study.Short(), ErrLocked)
	}
	return unlock, nil
}

// lock locks a file that exists only while somebody holds it. It returns nil without an error if
// another holds it. Only the holder removes the file. After locking, lock checks that the file was
// not removed meanwhile, and otherwise tries again; so no two processes hold locks of one name.
func (s *Store) lock(name string, try func(*flock.Flock) (bool, error)) (unlock func(), err error) {
	path := s.path(locksDir, name)
	for {
		lock := flock.New(path, flock.SetPermissions(0o600))
		if ok, err := try(lock); err != nil || !ok {
			lock.Close()
			return nil, err
		}
		held, err := lock.Stat()
		if err != nil {
			lock.Close()
			return nil, err
		}
		if there, err := os.Stat(path); err == nil && os.SameFile(held, there) {
			return func() {
				os.Remove(path) // if this fails the file stays, which does not matter
				lock.Close()
			}, nil
		}
		lock.Close()
	}
}

// LockServing makes the caller the only one that serves the directory's studies, until unlock or
// the end of the process. It returns ErrServed at once while another does. Commands on one study
// exclude each other by LockStudy.
func (s *Store) LockServing() (unlock func(), err error) {
	if err := s.writable(); err != nil {
		return nil, fmt.Errorf("locking %q: %w", s.dir, err)
	}
	lock := flock.New(s.path(locksDir, "serve.lock"), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking %q: %w", s.dir, err)
	}
	if !ok {
		lock.Close()
		return nil, fmt.Errorf("locking %q: %w", s.dir, ErrServed)
	}
	return func() { lock.Close() }, nil
}

// Served reports whether some process serves the directory's studies.
func (s *Store) Served() bool {
	path := s.path(locksDir, "serve.lock")
	if _, err := os.Stat(path); err != nil {
		return false // do not create the lock file
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	defer lock.Close()
	free, err := lock.TryRLock()
	return err == nil && !free
}
