package aggregator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/session"
)

// giveUp ends a damaged study on this node: its board cannot say so, and so the status and
// the journal do. Parties are told when they ask.
func giveUp(ctx context.Context, o Options, st *store.Store, d *stored.DamagedError, reason string) (Cancelled, error) {
	out := Cancelled{Damage: d, Name: stored.NameOf(stored.FileOf(st, d.Study))}
	if s, ok := stored.GivenUp(st, d.Study); ok {
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
	shot := stored.Snapshot{Study: d.Study.String(), Name: out.Name, State: string(session.Stopped), Failure: out.Stop.Reason, GivenUp: out.Stop.At.String()}
	return out, st.PutStatus(d.Study, shot.Encode())
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
	var d *stored.DamagedError
	if !errors.As(err, &d) || s.failures != 1 {
		return
	}
	if _, over := stored.GivenUp(a.Store, d.Study); over {
		return
	}
	if err := a.Store.PutStatus(d.Study, stored.DamagedSnapshot(a.Store, d).Encode()); err != nil {
		a.Logger.Error("its status cannot be stored", "study", d.Study.Short(), "error", err)
	}
}
