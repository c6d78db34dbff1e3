package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
)

// SaveQuery stores a party's query of a study, by its number, as SaveRelease stores the
// release: there is one of a number for good. Storing it again with an equal header changes
// nothing, another header is ErrConflict.
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

// Query returns where a party's query of a study is stored, or will be.
func (s *Store) Query(study protocol.StudyID, number int) ReleaseDir {
	return ReleaseDir(s.path(releasesDir, QueryDir(study, number)))
}

// QueryDir is the name of a query's directory, beside those of releases, which are named as
// their studies are.
func QueryDir(study protocol.StudyID, number int) string {
	return fmt.Sprintf("%s-query-%d", study, number)
}
