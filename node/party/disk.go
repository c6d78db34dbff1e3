package party

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
)

// disk adapts the store of a study to the loop around the machine.
type disk struct{ *service }

// Restored collects the study's persisted state.
func (d disk) Restored() (session.PartyRestored, error) {
	var out session.PartyRestored
	own, err := d.Store.Own(d.Study.ID)
	if err != nil {
		return out, err
	}
	for _, o := range own {
		e, err := stored.DecodeVerified(o.Raw)
		if err != nil {
			return out, fmt.Errorf("own %s in the store: %w", o.Kind, err)
		}
		if e.Sender() != d.Signer.ID() {
			return out, &node.IdentityMismatchError{Signed: e.Sender(), Here: d.Signer.ID()}
		}
		out.Own = append(out.Own, e)
	}
	out.Secrets = map[uint32]seed.Hidden{}
	for attempt := uint32(1); int64(attempt) <= int64(d.Study.Attempts); attempt++ {
		secrets, err := d.Store.Secret(d.Study.ID, attempt)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return out, err
		}
		if err == nil {
			out.Secrets[attempt] = seed.Hide(secrets)
		}
	}
	document, err := d.Store.Result(d.Study.ID, filename.Result)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return out, err
	}
	if err == nil {
		out.Document = stored.DocumentOf(document).Hash
	}
	if len(out.Own) == 0 {
		d.sure = d.Now() // nothing can be lost
	}
	return out, nil
}

// Board reads the stored board.
func (d disk) Board() (session.Board, error) {
	var out session.Board
	raws, err := d.Store.Board(d.Study.ID, 0, 1<<20)
	if err != nil || len(raws) == 0 {
		return out, err
	}
	for _, raw := range raws {
		e, err := stored.DecodeVerified(raw)
		if err != nil {
			return out, fmt.Errorf("stored board: %w", err)
		}
		out.Envelopes = append(out.Envelopes, e)
	}
	raw, err := d.Store.Head(d.Study.ID)
	if err != nil {
		return out, fmt.Errorf("stored board's head: %w", err)
	}
	if out.Head, err = wire.DecodeHead(raw, d.Study.ID); err != nil {
		return out, fmt.Errorf("stored board's head: %w", err)
	}
	return out, nil
}

// Persist stores what the machine asks for.
func (d disk) Persist(record session.Record) error {
	id := d.Study.ID
	switch record := record.(type) {
	case session.SaveSecrets:
		return d.Store.PutSecret(id, record.Attempt, record.Data.Reveal())
	case session.SaveEnvelope:
		e := record.Envelope
		if err := d.Store.PutSigned(id, stored.OwnKind(e), e.Attempt(), wire.EncodeEnvelope(e.Envelope())); err != nil {
			return err
		}
		d.Observe(event.Progress{Study: id, Milestone: event.Persisted, Kind: e.Kind()})
		return nil
	case session.DestroySecrets:
		if record.Attempt != 0 {
			return d.Store.DestroySecret(id, record.Attempt)
		}
		if err := d.destroyHeld(); err != nil { // first: once the secrets are gone, it would not be found again
			return err
		}
		return d.Store.DestroySecrets(id)
	case session.AppendBoard:
		return d.appendBoard(record)
	}
	return fmt.Errorf("cannot persist %T", record)
}

// appendBoard stores a stretch of the board, unless it was replayed from the store.
func (d disk) appendBoard(record session.AppendBoard) error {
	count, err := d.Store.BoardCount(d.Study.ID)
	if err != nil || record.From < count {
		return err
	}
	var raws [][]byte
	for _, e := range record.Envelopes {
		raws = append(raws, wire.EncodeEnvelope(e.Envelope()))
	}
	return d.Store.AppendBoard(d.Study.ID, record.From, raws, wire.EncodeHead(record.Head))
}

// Show stores and reports the status of a machine that may not be open yet.
func (d disk) Show(machines session.Status) error { return d.showAs(d.asked(machines)) }

func (r *service) show() error { return r.showAs(r.status()) }

// showAs stores and reports a status if it changed.
func (r *service) showAs(status session.Status) error {
	differ := r.clocks()
	if status.Terminal() {
		differ = "" // a failure caused by a date says so itself
	}
	news := !stored.SameStatus(status, r.shown)
	if !news && differ == r.differ {
		return nil
	}
	r.shown, r.differ = status, differ
	shot := stored.SnapshotOf(r.Study, status)
	shot.Clock = differ
	if err := r.Store.PutStatus(r.Study.ID, shot.Encode()); err != nil {
		return fmt.Errorf("storing status: %w", err)
	}
	if news {
		r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Waiting, Status: status})
	}
	return nil
}
