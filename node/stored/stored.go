package stored

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// ErrStudyChanged reports a study file that differs from what was added: somebody changed it in the
// state directory.
var ErrStudyChanged error = fail.StudyChanged

// Parse reads a study file that a store returned for an id. If it cannot be read or has another id,
// the error is a *DamagedError; the latter also wraps ErrStudyChanged. No decision about one study
// applies to another.
func Parse(id protocol.StudyID, source []byte) (*study.Study, error) {
	if here := protocol.StudyID(sha256.Sum256(source)); here != id {
		return nil, &DamagedError{id, "study file", fmt.Errorf("%w: its bytes have id %s", ErrStudyChanged, here.Short())}
	}
	s, err := file.Parse(source)
	if err != nil {
		return nil, &DamagedError{id, "study file", err}
	}
	return s, nil
}

// DocumentOf returns the hash and size of a document.
func DocumentOf(data []byte) protocol.Document {
	return protocol.Document{Hash: sha256.Sum256(data), Size: int64(len(data))}
}

// ErrPurged reports a study whose sketches the operator removed: its results stay, but no further
// analysis is possible.
var ErrPurged error = fail.Purged

// Purged reports whether a study's sketches were removed.
func Purged(st interface {
	Purged(protocol.StudyID) (protocol.Instant, error)
}, id protocol.StudyID) (bool, error) {
	switch _, err := st.Purged(id); {
	case err == nil:
		return true, nil
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	default:
		return false, err
	}
}
