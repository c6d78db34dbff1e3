package aggregator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/node/aggregator/inbox"
	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/carry"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// bundleSuffix is the suffix of bundles in the inbox.
const bundleSuffix = ".bundle"

// Arrived says what a bundle held.
type Arrived struct {
	Bundle   bundle.Label
	Messages int // envelopes, also those that were on the board before
	Chunks   int
	Passed   []protocol.Verified // those of the messages whose turn had passed: they had no effect
}

// released reports whether the bundle's release was passed over; then its chunks are too.
func (a Arrived) released() bool {
	return slices.ContainsFunc(a.Passed, func(v protocol.Verified) bool { return v.Kind() == protocol.KindRelease })
}

// take handles the requests in a bundle as if they had come over the network.
func (a *server) take(ctx context.Context, label bundle.Label, in io.Reader) (got Arrived, err error) {
	got.Bundle = label
	if label.To != a.ID() {
		return got, fail.BundleElsewhere.Of(fmt.Errorf("it is for %s, this is %s", label.To, a.ID()))
	}
	if _, err := a.find(ctx, label.Study, label.From); err != nil {
		return got, err
	}
	reader, err := bundle.Open(in, label, a.Store.HPKE())
	if err != nil {
		return got, err
	}
	for {
		name, body, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		switch name {
		case carry.PartMailbox:
			err = a.mailbox(label, body)
		case calls.Ledger:
			_, err = a.ledger(ctx, label.From, body)
		case calls.Post:
			var passed []protocol.Verified
			passed, err = a.postAll(ctx, label.From, body)
			got.Messages, got.Passed = got.Messages+1, append(got.Passed, passed...)
		case calls.Chunk:
			if got.released() {
				continue
			}
			_, err = a.chunk(ctx, label.From, body)
			got.Chunks++
		default:
			err = fmt.Errorf("%w: unknown part %q", bundle.ErrDamaged, name)
		}
		if err != nil {
			return got, err
		}
	}
}

// mailbox stores the key to which a party's answers are sealed.
func (a *server) mailbox(label bundle.Label, body []byte) error {
	m, err := protocol.DecodeMailbox(label.Study, label.From, body)
	if err != nil {
		return err
	}
	return a.Store.PutResult(label.Study, filename.Mailbox(label.From), m.Encode())
}

// takeFile imports a bundle from the inbox.
func (a *server) takeFile(ctx context.Context, in io.Reader) error {
	label, err := bundle.ReadLabel(in)
	if err != nil {
		return err
	}
	got, err := a.take(ctx, label, in)
	if err == nil {
		a.Log.Info("took a bundle in", "study", label.Study.Short(), "from", label.From.String(), "messages", got.Messages, "passed over", len(got.Passed), "chunks", got.Chunks)
	}
	return err
}

// HandOver gives a bundle to the aggregator that serves a store in another process, and waits until
// it has imported or refused it.
func HandOver(ctx context.Context, st *store.Store, in io.Reader) error {
	if err := inbox.HandOver(ctx, st.Dir(), in, bundleSuffix); err != nil {
		return fmt.Errorf("handing the bundle to the serving aggregator: %w", err)
	}
	return nil
}
