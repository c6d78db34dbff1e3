package store

import "github.com/cosketch/cosketch/protocol"

// PutFirst stores the signed first round of a two-party study, in a separate file (mode 0600),
// replacing an earlier one. Durable when it returns nil. It is no longer needed once it is among
// the own envelopes.
func (s *Store) PutFirst(study protocol.StudyID, data []byte) error { return s.first(study).put(data) }

// First returns the first round, or ErrNotFound if none was stored or it was destroyed.
func (s *Store) First(study protocol.StudyID) ([]byte, error) { return s.first(study).read() }

// DestroyFirst overwrites and removes the first round; it is no error if there is none.
func (s *Store) DestroyFirst(study protocol.StudyID) error { return s.first(study).destroy() }

func (s *Store) first(study protocol.StudyID) secretFile {
	return secretFile{s, study, "the first round", study.String() + "-first"} // the prefix makes DestroySecrets remove it too
}
