package store

import "github.com/cosketch/cosketch/protocol"

// PutFirst stores the signed first round of a study of two, in a file of its own (mode 0600), replacing what was
// there. Durable when it returns nil. Once it is among the own envelopes it is of no further use.
func (s *Store) PutFirst(study protocol.StudyID, data []byte) error { return s.first(study).put(data) }

// First returns it, or ErrNotFound when none was stored or it was destroyed.
func (s *Store) First(study protocol.StudyID) ([]byte, error) { return s.first(study).read() }

// DestroyFirst overwrites and removes it; having none is no error.
func (s *Store) DestroyFirst(study protocol.StudyID) error { return s.first(study).destroy() }

func (s *Store) first(study protocol.StudyID) aside {
	return aside{s, study, "the first round", study.String() + "-first"} // so that it goes with the study's secrets
}
