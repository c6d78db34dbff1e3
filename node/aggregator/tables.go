package aggregator

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// shelf stores the parts of a study's tables.
type shelf struct {
	node.State
	study protocol.StudyID
}

func (s shelf) NewPart() (analysis.NewPart, error) {
	f, err := s.NewResult(s.study)
	return shelved{f}, err
}

type shelved struct{ store.NewFile }

// Commit keeps the part under its hash.
func (s shelved) Commit(name protocol.Digest) error { return s.NewFile.Keep(filename.Table(name)) }

// scratch holds the parts of an unpublished answer, in a directory made for them.
type scratch struct{ dir string }

// NewPart begins a part.
func (s *scratch) NewPart() (_ analysis.NewPart, err error) {
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "cosketch-tables-"); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(s.dir, "new-")
	return scratched{f}, err
}

func (s *scratch) OpenPart(name protocol.Digest) (analysis.PartFile, error) {
	return os.Open(filepath.Join(s.dir, filename.Table(name)))
}

func (s *scratch) remove() error {
	if s == nil || s.dir == "" {
		return nil
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("removing the tables of an answer: %w", err)
	}
	return nil
}

type scratched struct{ *os.File }

// Commit keeps the part under its hash.
func (s scratched) Commit(name protocol.Digest) error {
	if err := s.Close(); err != nil {
		return err
	}
	return os.Rename(s.Name(), filepath.Join(filepath.Dir(s.Name()), filename.Table(name)))
}

func (s scratched) Discard() { s.Close() }
