package store

import "github.com/cosketch/cosketch/protocol"

// PutLook stores the first look on which a study's release is based, in a separate file (mode
// 0600). It replaces and erases an earlier one. Durable when it returns nil. It is no longer needed
// once the release is stored, of which it is a part.
func (s *Store) PutLook(study protocol.StudyID, data []byte) error { return s.look(study).put(data) }

// Look returns the first look, or ErrNotFound if none was stored or it was destroyed.
func (s *Store) Look(study protocol.StudyID) ([]byte, error) { return s.look(study).read() }

// DestroyLook overwrites and removes the first look; it is no error if there is none.
func (s *Store) DestroyLook(study protocol.StudyID) error { return s.look(study).destroy() }

func (s *Store) look(study protocol.StudyID) secretFile {
	return secretFile{s, study, "the first look", study.String() + "-look"} // the prefix makes DestroySecrets remove it too
}
