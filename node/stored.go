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
// id is ErrStudyChanged: nothing that was decided about the one goes for the other.
func ParseStored(id protocol.StudyID, source []byte) (*study.Study, error) {
	if here := protocol.StudyID(sha256.Sum256(source)); here != id {
		return nil, fmt.Errorf("reading stored study %s: %w: its bytes have id %s (restore the newest backup into a new directory; fsck says what else is wrong)",
			id.Short(), ErrStudyChanged, here.Short())
	}
	s, err := study.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("reading stored study %s: %w", id.Short(), err)
	}
	return s, nil
}
