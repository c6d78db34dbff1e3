package stored

import (
	"errors"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// Sketches is a state directory whose sketches can be removed.
type Sketches interface {
	Studies() ([]store.StudyEntry, error)
	Study(id protocol.StudyID) ([]byte, error)
	Purged(id protocol.StudyID) (protocol.Instant, error)
	LockStudy(id protocol.StudyID) (unlock func(), err error)
	Purgeable(id protocol.StudyID) (bool, error)
	Purge(id protocol.StudyID, at protocol.Instant) (freed int64, err error)
}

// RemoveExpired purges a study whose retention date has passed, unless it was purged before and
// nothing is left. A study that is being served is left for the next time.
func RemoveExpired(st Sketches, s *study.Study, now protocol.Instant) (removed bool, err error) {
	if s.KeepUntil == 0 || now < s.KeepUntil {
		return false, nil
	}
	gone, err := Purged(st, s.ID)
	left := !gone
	if err == nil && gone {
		left, err = st.Purgeable(s.ID)
	}
	if err != nil || !left {
		return false, err
	}
	unlock, err := st.LockStudy(s.ID)
	if errors.Is(err, store.ErrLocked) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer unlock()
	_, err = st.Purge(s.ID, now)
	return err == nil, err
}

// RemoveAllExpired does this for every study of a party whose file can be read: party advanced fsck
// names the others.
func RemoveAllExpired(st Sketches, now protocol.Instant) error {
	entries, err := st.Studies()
	if err != nil {
		return err
	}
	for _, e := range entries {
		source, err := st.Study(e.ID)
		if err != nil {
			continue
		}
		s, err := Parse(e.ID, source)
		if err != nil {
			continue
		}
		if _, err := RemoveExpired(st, s, now); err != nil {
			return err
		}
	}
	return nil
}
