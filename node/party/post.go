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

// link connects the loop around the machine to the aggregator, by calls, which a bundle may answer.
type link struct {
	*service
	passed []protocol.Digest // ids of envelopes that the aggregator passed over
}

// errUnseen reports that a posted message was accepted but is not on the board.
var errUnseen = fmt.Errorf("%w: the aggregator took in what was posted, and its board does not show it", p2p.ErrInterrupted)

// Post sends messages. Whatever the aggregator answers, only its board shows whether they were
// accepted.
func (w *link) Post(ctx context.Context, envelopes []protocol.Verified) (doubt, err error) {
	passed, refused := w.client.Post(ctx, envelopes)
	if refused != nil && transient(refused) {
		return nil, refused
	}
	w.passed = passed
	return cmp.Or(refused, errUnseen), nil
}

// Read reads the board and verifies its new envelopes.
func (w *link) Read(ctx context.Context, from uint64, wait uint32) (session.Board, error) {
	reply, err := w.client.Read(ctx, from, wait)
	if err != nil {
		return session.Board{}, err
	}
	out := session.Board{From: reply.From, Head: reply.Head}
	for _, plain := range reply.Envelopes {
		e, err := stored.Verify(w.Study, plain, w.Signer.ID())
		if err != nil { // only the aggregator can have put it there
			return out, &node.FailedError{Err: &protocol.Fault{Culprit: w.Study.Aggregator.ID, Kind: "board", Err: err}}
		}
		out.Envelopes = append(out.Envelopes, e)
	}
	w.fresh = true
	return out, nil
}

// read reads the news of the board, waiting up to wait seconds for them.
func (r *service) read(ctx context.Context, wait uint32) error {
	return r.machine.Read(ctx, &link{service: r}, wait)
}

// post sends the first due messages. The board may show why one was refused or passed over, for
// example because its attempt or the study is over. Then the machine drops it.
func (r *service) post(ctx context.Context, due int) error {
	w := &link{service: r}
	doubt, err := r.machine.Post(ctx, w, due)
	if status := r.machine.Status(); err != nil || status.Terminal() && status.State != session.Withdrawn {
		return err
	}
	still, _ := r.machine.Due()
	for _, e := range still {
		if slices.Contains(w.passed, e.ID()) {
			return p2p.Refuse(p2p.CodeRefused, "the aggregator did not accept %s, although it is due by the board that it shows (a date may have passed)", e)
		}
	}
	return doubt
}

// resend sends again what the aggregator lost of a release that had arrived: nobody else can.
func (r *service) resend(ctx context.Context) error {
	progress, err := r.client.Progress(ctx)
	var refusal *p2p.Refusal
	if errors.As(err, &refusal) || err == nil && progress.Complete {
		return nil // the board shows what is needed now
	}
	if err == nil {
		_, err = r.upload(ctx, *r.shipped)
	}
	return err
}
