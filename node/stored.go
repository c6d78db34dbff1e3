package node

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// ErrStudyChanged reports a study file that is not, byte for byte, what was added: somebody
// has changed it in the state directory.
var ErrStudyChanged = errors.New("the stored study file was changed after it was added")

// ParseStored reads a study file that a store gave under an id. A file that is of another
// id is ErrStudyChanged, and one that cannot be read a *DamagedError, too: nothing that was decided about the one goes for the other.
func ParseStored(id protocol.StudyID, source []byte) (*study.Study, error) {
	if here := protocol.StudyID(sha256.Sum256(source)); here != id {
		return nil, &DamagedError{id, "study file", fmt.Errorf("%w: its bytes have id %s", ErrStudyChanged, here.Short())}
	}
	s, err := study.Parse(source)
	if err != nil {
		return nil, &DamagedError{id, "study file", err}
	}
	return s, nil
}
