package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

// A study whose file or board cannot be read any more is damaged: it alone is not served,
// and lists name it as that. Its operator restores a backup or gives it up. Nothing is
// ever cut from a board: parties may have seen what stands there.

// Damaged is the state of such a study, beside those of package session.
const Damaged = "damaged"

// DamagedError reports a stored study that cannot be read.
type DamagedError struct {
	Study protocol.StudyID
	What  string // study file or board
	Err   error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the stored %s of study %s is damaged: %v (restore the newest backup into a new directory; fsck says what else is wrong; an operator can also give the study up: aggregator study cancel %s)",
		e.What, e.Study.Short(), e.Err, e.Study.Short())
}

func (e *DamagedError) Unwrap() error { return e.Err }

func damagedBoard(id protocol.StudyID, err error) error { return &DamagedError{id, "board", err} }

// nameOf is the name of a study whose file may be damaged.
func nameOf(s *study.Study) string {
	if s == nil {
		return "not readable"
	}
	return s.Name
}

// fileOf reads a stored study's file, as far as that is possible; else it is nil.
func fileOf(st interface {
	Study(protocol.StudyID) ([]byte, error)
}, id protocol.StudyID) *study.Study {
	source, err := st.Study(id)
	if err != nil {
		return nil
	}
	s, err := ParseStored(id, source)
	if err != nil {
		return nil
	}
	return s
}

// DamagedSnapshot is the status of a damaged study: that it is, or that it was given up.
func DamagedSnapshot(st interface {
	Study(protocol.StudyID) ([]byte, error)
	Status(protocol.StudyID) ([]byte, error)
}, d *DamagedError) Snapshot {
	if s, ok := givenUp(st, d.Study); ok {
		return s
	}
	return Snapshot{Study: d.Study.String(), Name: nameOf(fileOf(st, d.Study)), State: Damaged, Trouble: d.Error()}
}

// givenUp is the stored status of a damaged study that its operator gave up.
func givenUp(st interface {
	Status(protocol.StudyID) ([]byte, error)
}, id protocol.StudyID) (Snapshot, bool) {
	raw, err := st.Status(id)
	if err != nil {
		return Snapshot{}, false
	}
	s, err := DecodeSnapshot(raw)
	return s, err == nil && s.GivenUp != ""
}

// giveUp ends a damaged study on this node: its board cannot say so, and so the status and
// the journal do. Parties are told when they ask.
func giveUp(ctx context.Context, o AggregatorOptions, st *store.Store, d *DamagedError, reason string) (Cancelled, error) {
	out := Cancelled{Damage: d, Name: nameOf(fileOf(st, d.Study))}
	if s, ok := givenUp(st, d.Study); ok {
		at, err := protocol.ParseInstant(s.GivenUp)
		out.Before, out.Stop = true, protocol.Stop{At: at, Reason: s.Failure}
		return out, err
	}
	out.Stop = protocol.Stop{At: o.Now(), Reason: session.CancelReason(reason)}
	unlock, err := st.LockStudy(d.Study)
	if errors.Is(err, store.ErrLocked) { // it was taken up before the damage: its machine has the board
		return out, requestCancel(ctx, st, d.Study, reason)
	}
	if err != nil {
		return out, err
	}
	defer unlock()
	if err := st.Note(journal.Entry{At: out.Stop.At, Event: journal.Cancelled, Study: d.Study.String(), Note: reason}); err != nil {
		return out, err
	}
	shot := Snapshot{Study: d.Study.String(), Name: out.Name, State: string(session.Stopped), Failure: out.Stop.Reason, GivenUp: out.Stop.At.String()}
	return out, st.PutStatus(d.Study, shot.encode())
}

// requestCancel hands a request to the aggregator that serves a study in another process.
func requestCancel(ctx context.Context, st *store.Store, id protocol.StudyID, reason string) error {
	request, err := json.Marshal(cancellation{id.String(), reason})
	if err != nil {
		return err
	}
	return handOver(ctx, st, bytes.NewReader(request), cancelSuffix)
}

// showDamage lets the status say that a study is damaged, once.
func (a *Aggregator) showDamage(s setback, err error) {
	var d *DamagedError
	if !errors.As(err, &d) || s.failures != 1 {
		return
	}
	if _, over := givenUp(a.Store, d.Study); over {
		return
	}
	if err := a.Store.PutStatus(d.Study, DamagedSnapshot(a.Store, d).encode()); err != nil {
		a.Logger.Error("its status cannot be stored", "study", d.Study.Short(), "error", err)
	}
}
