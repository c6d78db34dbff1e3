package party

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// way is how the loop around the machine speaks with the aggregator: by calls, which a bundle may answer.
type way struct {
	*service
	passed []protocol.Digest // ids of what the aggregator has passed over
}

// errUnseen is the doubt about what the aggregator says to have taken in.
var errUnseen = fmt.Errorf("%w: the aggregator took in what was posted, and its board does not show it", p2p.ErrInterrupted)

// Post sends messages. Whatever the aggregator says of them, they are there when its board shows them.
func (w *way) Post(ctx context.Context, envelopes []protocol.Verified) (doubt, err error) {
	passed, refused := w.client.Post(ctx, envelopes)
	if refused != nil && transient(refused) {
		return nil, refused
	}
	w.passed = passed
	return cmp.Or(refused, errUnseen), nil
}

// Read reads the board and verifies what is new on it.
func (w *way) Read(ctx context.Context, from uint64, wait uint32) (session.Board, error) {
	reply, err := w.client.Read(ctx, from, wait)
	if err != nil {
		return session.Board{}, err
	}
	out := session.Board{From: reply.From, Head: reply.Head}
	for _, plain := range reply.Envelopes {
		e, err := stored.Verify(w.Study, plain, w.Signer.ID())
		if err != nil { // nobody but the aggregator can have put it there
			return out, &node.FailedError{Err: &protocol.Fault{Culprit: w.Study.Aggregator.ID, Kind: "board", Err: err}}
		}
		out.Envelopes = append(out.Envelopes, e)
	}
	w.fresh = true
	return out, nil
}

// read takes the news of the board in, and waits so many seconds for them.
func (r *service) read(ctx context.Context, wait uint32) error {
	return r.machine.Read(ctx, &way{service: r}, wait)
}

// post sends the messages that are due, so many. The board may say why one was refused or passed over: that its
// attempt is over, say, or that the study is closed. Then the machine drops it.
func (r *service) post(ctx context.Context, due int) error {
	w := &way{service: r}
	doubt, err := r.machine.Post(ctx, w, due)
	if status := r.machine.Status(); err != nil || status.Terminal() && status.State != session.Withdrawn {
		return err
	}
	still, _ := r.machine.Due()
	for _, e := range still {
		if slices.Contains(w.passed, e.ID()) {
			return p2p.Refuse(p2p.CodeRefused, "the aggregator has passed over %s, whose turn it is by the board that it shows (a date may be over)", e)
		}
	}
	return doubt
}

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
