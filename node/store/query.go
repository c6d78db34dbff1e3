package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
)

// SaveQuery stores a party's query of a study under its number, like SaveRelease the release. There
// is one query per number, for good. Storing it again with an equal header is a no-op; another
// header is ErrConflict.
func (s *Store) SaveQuery(study protocol.StudyID, number int, query Release) error {
	if err := s.saveQuery(study, number, query); err != nil {
		return fmt.Errorf("storing query %d of study %s: %w", number, study.Short(), err)
	}
	return nil
}

func (s *Store) saveQuery(study protocol.StudyID, number int, query Release) error {
	if err := s.writable(); err != nil {
		return err
	}
	switch _, err := s.Purged(study); {
	case err == nil:
		return fmt.Errorf("%w: the study's sketches were removed at their date", ErrConflict)
	case !errors.Is(err, ErrNotFound):
		return err
	}
	dir := s.Query(study, number)
	switch before, err := dir.Header(); {
	case err == nil && bytes.Equal(before, query.Header):
		return nil
	case err == nil:
		return fmt.Errorf("%w: a query was drawn under this number before", ErrConflict)
	case !errors.Is(err, ErrNotFound):
		return err
	}
	return s.putRelease(string(dir), query)
}

// Query returns the directory of a party's query of a study, which need not exist.
func (s *Store) Query(study protocol.StudyID, number int) ReleaseDir {
	return ReleaseDir(s.path(releasesDir, QueryDir(study, number)))
}

// queryMark separates a study and a number in the name of a query's directory.
const queryMark = "-query-"

// QueryDir returns the name of a query's directory. It lies beside those of releases, which are
// named by their study.
func QueryDir(study protocol.StudyID, number int) string {
	return fmt.Sprintf("%s%s%d", study, queryMark, number)
}
