package store

import "github.com/cosketch/cosketch/protocol"

// PutLook stores the first look that a study's release goes by, in a file of its own (mode 0600),
// replacing and erasing what was there. Durable when it returns nil. It is of no use to anybody once
// the release is stored, of which it is a part.
func (s *Store) PutLook(study protocol.StudyID, data []byte) error { return s.look(study).put(data) }

// Look returns it, or ErrNotFound when none was stored or it was destroyed.
func (s *Store) Look(study protocol.StudyID) ([]byte, error) { return s.look(study).read() }

// DestroyLook overwrites and removes it; having none is no error.
func (s *Store) DestroyLook(study protocol.StudyID) error { return s.look(study).destroy() }

func (s *Store) look(study protocol.StudyID) aside {
	return aside{s, study, "the first look", study.String() + "-look"} // so that it goes with the study's secrets
}
