package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
)

// Purge removes the sketches of a study: at an aggregator those that parties sent, at a party its
// own release, after which no other can be stored. It records the purge; the board, the results and
// the ledger stay. The caller must make sure that the study accepts no more sketches. If Purge is
// killed, the next one completes it. It returns how many bytes were freed, and is durable when its
// error is nil.
func (s *Store) Purge(study protocol.StudyID, at protocol.Instant) (freed int64, err error) {
	fail := func(err error) (int64, error) {
		return freed, fmt.Errorf("purging study %s: %w", study.Short(), explain(err))
	}
	if err := s.writable(); err != nil {
		return fail(err)
	}
	dir := s.path(uploadsDir, study.String())
	for _, sketches := range []string{dir, s.path(releasesDir, study.String())} {
		size, err := sizeOf(sketches)
		if err != nil {
			return fail(err)
		}
		freed += size
	}
	err = transact(s.db, func(tx *sql.Tx) error {
		first, err := changed(tx.Exec("INSERT INTO purged (study, at) VALUES (?, ?) ON CONFLICT DO NOTHING", study[:], int64(at)))
		if err != nil || !first {
			return err
		}
		return s.journal(tx, journal.Entry{At: at, Event: journal.Purged, Study: study.String(), Note: fmt.Sprintf("%d bytes of sketches", freed)})
	})
	if err != nil {
		return fail(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fail(err)
	}
	if err := s.dropRelease(study); err != nil {
		return fail(err)
	}
	return freed, durable.SyncDir(s.path(uploadsDir))
}

// Purged returns when a study was purged, or ErrNotFound.
func (s *Store) Purged(study protocol.StudyID) (protocol.Instant, error) {
	var at protocol.Instant
	err := scan(s.db.QueryRow("SELECT at FROM purged WHERE study = ?", study[:]), &at)
	if err != nil {
		return 0, fmt.Errorf("whether study %s was purged: %w", study.Short(), explain(err))
	}
	return at, nil
}

// UploadSize returns the size of a study's stored uploads in bytes.
func (s *Store) UploadSize(study protocol.StudyID) (int64, error) {
	size, err := sizeOf(s.path(uploadsDir, study.String()))
	if err != nil {
		return 0, fmt.Errorf("measuring the uploads of study %s: %w", study.Short(), err)
	}
	return size, nil
}

// sizeOf returns the total size of the files below a directory; 0 if it does not exist.
func sizeOf(dir string) (int64, error) {
	var total int64
	root, err := os.OpenRoot(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer root.Close()
	return total, walkFiles(root, func(_ string, size int64) error {
		total += size
		return nil
	})
}
