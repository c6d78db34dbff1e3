package stored

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// Sketches are a state directory with sketches that can be removed.
type Sketches interface {
	Studies() ([]store.StudyEntry, error)
	Study(id protocol.StudyID) ([]byte, error)
	Purged(id protocol.StudyID) (protocol.Instant, error)
	LockStudy(id protocol.StudyID) (unlock func(), err error)
	Purge(id protocol.StudyID, at protocol.Instant) (freed int64, err error)
}

// RemoveExpired purges every study of a node whose file says that sketches are removed by now. A study that somebody
// serves at this moment waits for the next time. It returns those that it purged.
func RemoveExpired(st Sketches, now protocol.Instant) (removed []*study.Study, err error) {
	entries, err := st.Studies()
	if err != nil {
		return nil, fmt.Errorf("looking for studies whose sketches are to be removed: %w", err)
	}
	for _, e := range entries {
		source, err := st.Study(e.ID)
		if err != nil {
			return removed, err
		}
		s, err := Parse(e.ID, source)
		if err != nil {
			return removed, err
		}
		if s.KeepUntil == 0 || now < s.KeepUntil {
			continue
		}
		switch gone, err := Purged(st, s.ID); {
		case err != nil:
			return removed, err
		case gone:
			continue
		}
		switch err := purgeAlone(st, s.ID, now); {
		case errors.Is(err, store.ErrLocked):
		case err != nil:
			return removed, err
		default:
			removed = append(removed, s)
		}
	}
	return removed, nil
}

// purgeAlone purges a study that nobody else in this state directory is serving.
func purgeAlone(st Sketches, id protocol.StudyID, now protocol.Instant) error {
	unlock, err := st.LockStudy(id)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = st.Purge(id, now)
	return err
}
