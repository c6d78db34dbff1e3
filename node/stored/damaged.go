package stored

import (
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

// A study whose file or board can no longer be read is damaged. Only it is not served, and lists
// show it as damaged. Its operator restores a backup or gives it up. Nothing is ever cut from a
// board: parties may have seen it.

// Damaged is the state of such a study, in addition to those of package session.
const Damaged = "damaged"

// DamagedError reports a stored study that cannot be read.
type DamagedError struct {
	Study protocol.StudyID
	What  string // study file or board
	Err   error
}

func (e *DamagedError) Error() string { return e.Fail().Error() }

func (e *DamagedError) Fail() *fail.Error {
	return fail.StudyDamaged.Of(e.Err, e.What, e.Study.Short())
}

func (e *DamagedError) Unwrap() error { return e.Err }

// DamagedBoard reports a board that cannot be read.
func DamagedBoard(id protocol.StudyID, err error) error { return &DamagedError{id, "board", err} }

// NameOf returns the name of a study whose file may be damaged.
func NameOf(s *study.Study) string {
	if s == nil {
		return "not readable"
	}
	return s.Name
}

// FileOf reads a stored study's file; it is nil if that fails.
func FileOf(st interface {
	Study(protocol.StudyID) ([]byte, error)
}, id protocol.StudyID) *study.Study {
	source, err := st.Study(id)
	if err != nil {
		return nil
	}
	s, err := Parse(id, source)
	if err != nil {
		return nil
	}
	return s
}

// DamagedSnapshot is the status of a damaged study, or of one that was given up.
func DamagedSnapshot(st interface {
	Study(protocol.StudyID) ([]byte, error)
	Status(protocol.StudyID) ([]byte, error)
}, d *DamagedError) Snapshot {
	if s, ok := Abandoned(st, d.Study); ok {
		return s
	}
	return Snapshot{Study: d.Study.String(), Name: NameOf(FileOf(st, d.Study)), State: Damaged, Trouble: d.Error()}
}

// Abandoned is the stored status of a damaged study that its operator gave up.
func Abandoned(st interface {
	Status(protocol.StudyID) ([]byte, error)
}, id protocol.StudyID) (Snapshot, bool) {
	raw, err := st.Status(id)
	if err != nil {
		return Snapshot{}, false
	}
	s, err := DecodeSnapshot(raw)
	return s, err == nil && s.Abandoned != ""
}
