package store

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/protocol"
)

// PutSealed is for aggregators. It stores the sealed texts that came with a party's share, before
// the share is on the board. Texts already there belong to a share that never got there, and are
// replaced. Durable when it returns nil.
func (s *Store) PutSealed(study protocol.StudyID, sender protocol.PeerID, attempt uint32, texts []byte) error {
	path := s.sealedPath(study, sender, attempt)
	err := s.writable()
	if err == nil {
		err = durable.Mkdir(filepath.Dir(path))
	}
	if err == nil {
		err = writeFile(path, texts)
	}
	if err != nil {
		return fmt.Errorf("storing the sealed texts of %s in study %s: %w", sender, study.Short(), err)
	}
	return nil
}

// Sealed reads size bytes of a share's texts, from offset from, or returns ErrNotFound.
func (s *Store) Sealed(study protocol.StudyID, sender protocol.PeerID, attempt uint32, from int64, size int) ([]byte, error) {
	f, err := os.Open(s.sealedPath(study, sender, attempt))
	if err == nil {
		defer f.Close()
		data := make([]byte, size)
		if _, err = io.ReadFull(io.NewSectionReader(f, from, int64(size)), data); err == nil {
			return data, nil
		}
	}
	return nil, fmt.Errorf("sealed texts of %s in study %s: %w", sender, study.Short(), missing(err))
}

func (s *Store) sealedPath(study protocol.StudyID, sender protocol.PeerID, attempt uint32) string {
	return s.path(sealedDir, study.String(), strconv.FormatUint(uint64(attempt), 10), sender.String())
}
