package aggregator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/aggregator/inbox"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

// cancelSuffix is the suffix of requests in the inbox, by which an operator's command reaches the
// aggregator that serves the study in another process.
const cancelSuffix = ".cancel"

// cancellation is such a request.
type cancellation struct {
	Study  string `json:"study"` // id in hexadecimal
	Reason string `json:"reason"`
}

// Cancelled is the state of a study after Cancel.
type Cancelled struct {
	Name   string
	Stop   protocol.Stop        // what the board says
	Before bool                 // it had been stopped before, by its operator or by itself
	Damage *stored.DamagedError // why it was given up; nil if the board could be read
}

// Cancel ends a study that has no result, by a stop on its board that the parties read. After the
// result it returns session.ErrAnswered. If another process serves the study, Cancel leaves a
// request in its inbox, which outlives both, and waits until that process has handled it. A damaged
// study, whose board cannot be extended, is given up on this node. Cancelling again changes
// nothing.
func Cancel(ctx context.Context, o Options, st *store.Store, id protocol.StudyID, reason string) (Cancelled, error) {
	source, err := st.Study(id)
	var s *study.Study
	if err == nil {
		s, err = stored.Parse(id, source)
	}
	var out Cancelled
	if err == nil {
		out, err = cancel(ctx, o, st, s, reason)
		out.Name = s.Name
	}
	var damaged *stored.DamagedError
	if errors.As(err, &damaged) {
		out, err = cancelDamaged(ctx, o, st, damaged, reason)
	}
	if err != nil {
		return out, fmt.Errorf("cancelling study %s: %w", id.Short(), err)
	}
	return out, nil
}

func cancel(ctx context.Context, o Options, st *store.Store, s *study.Study, reason string) (Cancelled, error) {
	out, err := cancelled(o, s)
	if err != nil || out.Stop.At != 0 {
		out.Before = true
		return out, err
	}
	d, err := OpenOffline(ctx, o, s.ID)
	switch {
	case errors.Is(err, store.ErrLocked):
		refused := requestCancel(ctx, st, s.ID, reason)
		// Whatever the request returned, the board decides.
		if out, err = cancelled(o, s); err != nil || out.Stop.At != 0 {
			return out, err
		}
		if refused == nil {
			refused = errors.New("the serving aggregator took the request, but the study was not cancelled")
		}
		return out, refused
	case err != nil:
		return out, err
	}
	defer d.Close()
	if err := d.hosted.cancel(ctx, reason); err != nil {
		return out, err
	}
	return cancelled(o, s)
}

// cancelled reads the study's state from the stored board: its stop, no stop, or
// session.ErrAnswered.
func cancelled(o Options, s *study.Study) (Cancelled, error) {
	a, err := newShared(o)
	if err != nil {
		return Cancelled{}, err
	}
	h, err := newHosted(a, s)
	if err != nil {
		return Cancelled{}, err
	}
	if err := h.machine.Cancellable(); errors.Is(err, session.ErrAnswered) {
		return Cancelled{}, err
	}
	stop, _ := h.machine.Stopped()
	return Cancelled{Stop: stop}, nil
}

// cancel ends the study on the goroutine that owns the machine. The operator's decision is
// journaled before it is on the board.
func (h *hosted) cancel(ctx context.Context, reason string) error {
	var refused error
	if err := h.doSettled(ctx, func() error {
		if err := h.step(h.life, session.Tick{Now: h.instant()}); err != nil {
			return err
		}
		if refused = h.machine.Cancellable(); refused != nil {
			return nil
		}
		if err := h.Store.Note(journal.Entry{At: h.Now(), Event: journal.Cancelled, Study: h.study.ID.String(), Note: reason}); err != nil {
			return err
		}
		return h.step(h.life, session.Cancel{Reason: reason})
	}); err != nil {
		return err
	}
	if errors.Is(refused, session.ErrEnded) {
		return nil // its date came first
	}
	return refused
}

// cancelDamaged ends a damaged study on this node. Its board cannot say so, so the status and the journal
// do. Parties are told when they ask.
func cancelDamaged(ctx context.Context, o Options, st *store.Store, d *stored.DamagedError, reason string) (Cancelled, error) {
	out := Cancelled{Damage: d, Name: stored.NameOf(stored.FileOf(st, d.Study))}
	if s, ok := stored.Abandoned(st, d.Study); ok {
		at, err := protocol.ParseInstant(s.Abandoned)
		out.Before, out.Stop = true, protocol.Stop{At: at, Reason: s.Failure}
		return out, err
	}
	out.Stop = protocol.Stop{At: o.Now(), Reason: session.CancelReason(reason)}
	unlock, err := st.LockStudy(d.Study)
	if errors.Is(err, store.ErrLocked) { // it was taken up before the damage: its machine holds the board
		refused := requestCancel(ctx, st, d.Study, reason)
		if refused == nil {
			return out, nil
		}
		// Or the lock was held only while the damage was found.
		if unlock, err = st.LockStudy(d.Study); errors.Is(err, store.ErrLocked) {
			return out, refused
		}
	}
	if err != nil {
		return out, err
	}
	defer unlock()
	if err := st.Note(journal.Entry{At: out.Stop.At, Event: journal.Cancelled, Study: d.Study.String(), Note: reason}); err != nil {
		return out, err
	}
	shot := stored.Snapshot{Study: d.Study.String(), Name: out.Name, State: string(session.Stopped), Failure: out.Stop.Reason, Abandoned: out.Stop.At.String()}
	return out, st.PutStatus(d.Study, shot.Encode())
}

// requestCancel hands a request to the aggregator that serves a study in another process.
func requestCancel(ctx context.Context, st *store.Store, id protocol.StudyID, reason string) error {
	request, err := json.Marshal(cancellation{id.String(), reason})
	if err != nil {
		return err
	}
	return inbox.HandOver(ctx, st.Dir(), bytes.NewReader(request), cancelSuffix)
}

// takeCancellation carries out a request of the inbox.
func (a *server) takeCancellation(ctx context.Context, in io.Reader) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	var c cancellation
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("reading a request to cancel: %w", err)
	}
	id, err := protocol.ParseStudyID(c.Study)
	if err != nil {
		return fmt.Errorf("reading a request to cancel: %w", err)
	}
	h, err := a.wake(ctx, id)
	if err != nil {
		return fmt.Errorf("study %s is not being served: %w", id.Short(), err)
	}
	return h.cancel(ctx, c.Reason)
}
