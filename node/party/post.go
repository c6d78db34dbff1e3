package party

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// post sends what is due. The board may say why a message was refused or passed over: that its
// attempt is over, say, or that the study is closed. Then the machine drops it.
func (r *service) post(ctx context.Context) error {
	sent := r.pending.Send
	passed, refused := r.client.Post(ctx, sent)
	if refused != nil && transient(refused) {
		return refused
	}
	err := r.read(ctx, 0)
	if status := r.machine.Status(); err != nil || status.Terminal() && status.State != session.Withdrawn {
		return err
	}
	if refused != nil && slices.EqualFunc(r.pending.Send, sent, sameEnvelope) {
		return refused
	}
	for _, e := range r.pending.Send {
		if slices.Contains(passed, e.ID()) {
			return p2p.Refuse(p2p.CodeRefused, "the aggregator has passed over %s, whose turn it is by the board that it shows (a date may be over)", e)
		}
	}
	if slices.EqualFunc(r.pending.Send, sent, sameEnvelope) {
		return fmt.Errorf("%w: the aggregator took in what was posted, and its board does not show it", p2p.ErrInterrupted)
	}
	return nil
}

func sameEnvelope(a, b protocol.Verified) bool { return a.ID() == b.ID() }

// resend sends again what the aggregator lost of a release that had arrived: nobody else can.
func (r *service) resend(ctx context.Context) error {
	progress, err := r.client.Progress(ctx)
	var refusal *p2p.Refusal
	if errors.As(err, &refusal) || err == nil && progress.Complete {
		return nil // the board says what is wanted now
	}
	if err == nil {
		_, err = r.upload(ctx, *r.shipped)
	}
	return err
}

// superseded drops the fetching of a result that a later one has replaced at the
// aggregator, and the upload of a release whose attempt the board says is void. It returns
// the error of any other job.
func (r *service) superseded(ctx context.Context, job session.Job, failed error) error {
	var refusal *p2p.Refusal
	if _, upload := job.(session.Upload); upload && errors.As(failed, &refusal) && refusal.Code == p2p.CodeNotFound {
		before := len(r.pending.Run)
		if err := r.read(ctx, 0); err != nil || len(r.pending.Run) < before {
			return err // step has dropped what is wanted no more
		}
		return failed
	}
	fetch, ok := job.(session.FetchResult)
	if !ok || transient(failed) {
		return failed
	}
	if err := r.read(ctx, 0); err != nil {
		return err
	}
	if newest, _ := r.machine.Result(); newest.Document == fetch.Result.Document {
		if r.Study.LateUntil != 0 { // its documents are being replaced, and the board is about to say so
			return fmt.Errorf("%w: %w", p2p.ErrInterrupted, failed)
		}
		return failed
	}
	r.pending.Run = r.pending.Run[1:]
	return nil
}
