package node

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// ErrPurged reports a study whose sketches the operator removed: its results stay, and
// nothing further can be asked of it.
var ErrPurged = errors.New("the study's sketches were purged")

// NotEndedError refuses to purge a study that may still need its sketches.
type NotEndedError struct {
	Study protocol.StudyID
	Until protocol.Instant
}

func (e *NotEndedError) Error() string {
	return fmt.Sprintf("study %s takes releases until %s: its sketches are needed until then", e.Study.Short(), e.Until)
}

// Purge removes a study's sketches from an aggregator's state, also while one serves. It is
// a *NotEndedError before the study's last date.
func Purge(st *store.Store, s *study.Study, now protocol.Instant) (freed int64, err error) {
	if until := LastDate(s); now < until {
		return 0, &NotEndedError{s.ID, until}
	}
	return st.Purge(s.ID, now)
}

// LastDate is when a study takes no more releases, and no more queries.
func LastDate(s *study.Study) protocol.Instant {
	last := max(s.Deadline, s.LateUntil)
	if s.Queries.Releases > 0 {
		last = max(last, s.NewRecords)
	}
	return last
}

// purged reports whether a study's sketches were removed.
func purged(st interface {
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
