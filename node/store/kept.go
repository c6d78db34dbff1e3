package store

import (
	"fmt"
	"os"
	"strings"

	"github.com/cosketch/cosketch/protocol"
)

// PutKept stores the keys that a study lets a party keep when its seed is destroyed, in a
// file of their own (mode 0600), replacing and erasing what was there. Durable when it
// returns nil. DestroySecrets leaves it alone.
func (s *Store) PutKept(study protocol.StudyID, data []byte) error { return s.kept(study).put(data) }

// Kept returns them, or ErrNotFound when none were stored or they were destroyed.
func (s *Store) Kept(study protocol.StudyID) ([]byte, error) { return s.kept(study).read() }

// DestroyKept overwrites and removes them, with the guarantee of DestroySecrets; having
// none is no error.
func (s *Store) DestroyKept(study protocol.StudyID) error { return s.kept(study).destroy() }

func (s *Store) kept(study protocol.StudyID) aside {
	return aside{s, study, "what is kept of the seed", "kept-" + study.String()}
}

// KeptStudies lists the studies of which something is kept.
func (s *Store) KeptStudies() ([]protocol.StudyID, error) {
	files, err := os.ReadDir(s.path(secretsDir))
	if err != nil {
		return nil, fmt.Errorf("listing what is kept of seeds: %w", err)
	}
	var out []protocol.StudyID
	for _, file := range files {
		name, ok := strings.CutPrefix(file.Name(), "kept-")
		if !ok {
			continue
		}
		if id, err := protocol.ParseStudyID(name); err == nil { // else a writer's that was killed
			out = append(out, id)
		}
	}
	return out, nil
}
