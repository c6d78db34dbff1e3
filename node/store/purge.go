package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
)

// Purge removes the sketches of a study: at an aggregator those that parties sent, with the rows of
// their queries; at a party its own release and queries, after which no other can be stored. It
// records the purge; the board with its sealed texts, the results, the answers to queries and the
// ledger stay. The caller must make sure that the study accepts no more sketches. If Purge is
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
	queries, err := s.queries(study)
	if err != nil {
		return fail(err)
	}
	for _, sketches := range append(queries, dir, s.path(releasesDir, study.String())) {
		size, err := sizeOf(sketches)
		if err != nil {
			return fail(err)
		}
		freed += size
	}
	size, err := s.sentQueries(study, nil)
	if err != nil {
		return fail(err)
	}
	freed += size
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
	for _, release := range append(queries, s.path(releasesDir, study.String())) {
		if err := s.dropRelease(release); err != nil {
			return fail(err)
		}
	}
	if _, err := s.sentQueries(study, os.Remove); err != nil {
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

// Purgeable reports whether there is something that Purge removes, such as what a killed purge left.
func (s *Store) Purgeable(study protocol.StudyID) (bool, error) {
	fail := func(err error) (bool, error) {
		return false, fmt.Errorf("looking for sketches of study %s: %w", study.Short(), err)
	}
	queries, err := s.queries(study)
	if err != nil {
		return fail(err)
	}
	release := s.path(releasesDir, study.String())
	for _, dir := range []string{s.path(uploadsDir, study.String()), release, release + ".tmp"} {
		switch _, err := os.Lstat(dir); {
		case err == nil:
			return true, nil
		case !errors.Is(err, os.ErrNotExist):
			return fail(err)
		}
	}
	sent, err := s.sentQueries(study, nil)
	if err != nil {
		return fail(err)
	}
	return len(queries) > 0 || sent > 0, nil
}

// UploadSize returns the size of a study's stored uploads in bytes, with the rows of queries.
func (s *Store) UploadSize(study protocol.StudyID) (int64, error) {
	size, err := sizeOf(s.path(uploadsDir, study.String()))
	if err == nil {
		var sent int64
		sent, err = s.sentQueries(study, nil)
		size += sent
	}
	if err != nil {
		return 0, fmt.Errorf("measuring the uploads of study %s: %w", study.Short(), err)
	}
	return size, nil
}

// queries returns the directories of a party's queries of a study.
func (s *Store) queries(study protocol.StudyID) ([]string, error) {
	entries, err := os.ReadDir(s.path(releasesDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".tmp") // a killed process left it half removed
		if strings.HasPrefix(name, study.String()+queryMark) {
			out = append(out, s.path(releasesDir, name))
		}
	}
	return slices.Compact(out), nil
}

// sentQueries does something with the rows of queries that parties sent, which are stored beside the
// results, and returns their size.
func (s *Store) sentQueries(study protocol.StudyID, do func(path string) error) (size int64, err error) {
	if s.role != Aggregator {
		return 0, nil
	}
	names, err := s.Results(study)
	if err != nil {
		return 0, err
	}
	files := slices.DeleteFunc(names, func(name string) bool { return !isQuerySent(name) })
	for _, name := range files {
		path := s.path(resultsDir, study.String(), name)
		info, err := os.Stat(path)
		if err == nil && do != nil {
			err = do(path)
		}
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return size, err
		}
		size += info.Size()
	}
	if do == nil || len(files) == 0 {
		return size, nil
	}
	return size, durable.SyncDir(s.path(resultsDir, study.String()))
}

// isQuerySent recognises names by filename.QuerySent.
func isQuerySent(name string) bool {
	return strings.HasPrefix(name, "query-") && strings.HasSuffix(name, ".bin")
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
