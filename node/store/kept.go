package store

import (
	"fmt"
	"os"
	"strings"

	"github.com/cosketch/cosketch/protocol"
)

// PutKept stores the keys that a study lets a party keep when its seed is destroyed, in a separate
// file (mode 0600). It replaces and erases an earlier one. Durable when it returns nil.
// DestroySecrets does not remove it.
func (s *Store) PutKept(study protocol.StudyID, data []byte) error { return s.kept(study).put(data) }

// Kept returns the kept keys, or ErrNotFound if none were stored or they were destroyed.
func (s *Store) Kept(study protocol.StudyID) ([]byte, error) { return s.kept(study).read() }

// DestroyKept overwrites and removes the kept keys, with the guarantee of DestroySecrets. It is no
// error if there are none.
func (s *Store) DestroyKept(study protocol.StudyID) error { return s.kept(study).destroy() }

func (s *Store) kept(study protocol.StudyID) secretFile {
	return secretFile{s, study, "what is kept of the seed", "kept-" + study.String()}
}

// KeptStudies returns the studies that have kept keys.
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
		if id, err := protocol.ParseStudyID(name); err == nil { // else left by a writer that was killed
			out = append(out, id)
		}
	}
	return out, nil
}
