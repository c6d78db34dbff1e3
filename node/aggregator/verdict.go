package aggregator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
)

// A release that is wholly here is read through once, beside the goroutine that owns the machine,
// so that nobody waits for that but its party. What came of it holds for its header for as long as
// the study is served.

// errUnacceptable reports a release that is whole, matches its hashes, and still is not
// what its header and the study say.
var errUnacceptable = errors.New("release is not acceptable")

// verdicts are what is known of releases, by the id of their header. The goroutine that owns the
// machine owns them.
type verdicts struct {
	known map[protocol.Digest]error         // nil: acceptable
	under map[protocol.Digest]chan struct{} // is being checked; closed when that ends
	ended chan judgement
}

// judgement is what came of a check.
type judgement struct {
	header session.Header
	err    error
}

// collect looks whether a party's release is wholly here, and if so tells the machine when it was
// checked. The channel, unless nil, is closed when more is known.
func (h *hosted) collect(ctx context.Context, party protocol.PeerID) (wire.Progress, <-chan struct{}, error) {
	header, ok := h.machine.Release(party)
	if !ok {
		return wire.Progress{}, nil, nil
	}
	if h.machine.Collected(party) {
		return wire.Progress{Complete: true}, nil, nil
	}
	progress := wire.Progress{Complete: true}
	for i, s := range header.Release.Sketches {
		missing, err := h.Store.FirstMissing(h.study.ID, party, stored.Uploaded(header, i), len(s.Chunks))
		if err != nil {
			return wire.Progress{}, nil, err
		}
		progress.Missing = append(progress.Missing, missing)
		progress.Complete = progress.Complete && missing == len(s.Chunks)
	}
	if !progress.Complete {
		return progress, nil, nil
	}
	switch refused, known := h.verdicts.known[header.ID]; {
	case known && refused != nil:
		return progress, nil, refused
	case known:
		return progress, nil, h.step(ctx, session.Collected{Party: party})
	}
	return progress, h.check(ctx, header), nil
}

// check begins to check a release, unless that is under way.
func (h *hosted) check(ctx context.Context, header session.Header) <-chan struct{} {
	if under := h.verdicts.under[header.ID]; under != nil {
		return under
	}
	under := make(chan struct{})
	h.verdicts.under[header.ID] = under
	h.checks.Go(func() {
		err := h.checked(ctx, header)
		select {
		case h.verdicts.ended <- judgement{header, err}:
		case <-ctx.Done():
		}
	})
	return under
}

// checked is acceptable for one release after the other.
func (h *hosted) checked(ctx context.Context, header session.Header) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = node.Recovered(h.Logger, h.study.ID, p)
		}
	}()
	h.checking.Lock()
	defer h.checking.Unlock()
	return h.acceptable(ctx, header)
}

// judge takes what came of a check in. Its error is one of the store's.
func (h *hosted) judge(ctx context.Context, v judgement) error {
	under := h.verdicts.under[v.header.ID]
	delete(h.verdicts.under, v.header.ID)
	defer close(under)
	var damaged *damagedChunk
	switch {
	case errors.Is(v.err, errUnacceptable):
		h.verdicts.known[v.header.ID] = v.err
		h.Observe(event.Happening{What: event.ReleaseRefused, Study: h.study.ID})
		h.refusals.Warn(v.header.Party.ID.String(), "refused a release", "study", h.study.ID.Short(), "error", v.err)
	case errors.As(v.err, &damaged): // the chunk is gone: it is missing
	case v.err != nil:
		return v.err
	default:
		h.verdicts.known[v.header.ID] = nil
		h.Observe(event.Happening{What: event.ReleaseTaken, Study: h.study.ID})
		if _, _, err := h.collect(ctx, v.header.Party.ID); err != nil {
			return err
		}
	}
	return h.settle(ctx)
}

// acceptable checks what no hash says: that a release decodes as its header claims.
func (h *hosted) acceptable(ctx context.Context, header session.Header) error {
	index, _ := h.study.PartyIndex(header.Party.ID)
	for i, s := range header.Release.Sketches {
		plan, err := release.For(h.study, index, i)
		if err != nil {
			return err
		}
		err = plan.Check(s, h.uploadedSketch(ctx, header, i))
		var disk *fs.PathError
		var damaged *damagedChunk
		if errors.As(err, &disk) || errors.As(err, &damaged) || errors.Is(err, store.ErrNotFound) || ctx.Err() != nil {
			return fmt.Errorf("reading sketch %d of %s: %w", i, header.Party.Name, err) // no fault of the party's
		}
		if err != nil {
			return fmt.Errorf("%w: sketch %d of %s: %w", errUnacceptable, i, header.Party.Name, err)
		}
	}
	return nil
}
