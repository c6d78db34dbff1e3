package party

import (
	"context"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/carry"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// vouch sends the aggregator the signed head of this party's ledger for it, to be countersigned. If
// the aggregator keeps a head that this party signed and its ledger does not cover, the error is a
// *LedgerRolledBackError. It is called before this party sends anything, and between a debit and
// its noise. So every release that is sent is covered by a head that the aggregator keeps.
func (r *service) vouch(ctx context.Context) error {
	aggregator := r.Study.Aggregator.ID
	if byHand, ok := r.client.Carrier.(*carry.Mail); ok {
		return r.vouchFor(byHand.Head)
	}
	entries, err := r.Store.Ledger()
	if err != nil {
		return err
	}
	head := ledger.HeadFor(entries, aggregator)
	kept, err := calls.KeptHead(ctx, r.client, r.Signer, entries)
	if err != nil {
		return err
	}
	if kept.Count == head.Count && kept.Hash == head.Hash {
		return nil
	}
	// Another study of this party may have debited the ledger since: read it again.
	return r.vouchFor(&kept)
}

// vouchFor compares the ledger with a head that the aggregator keeps. It is nil if none is known,
// as before the first bundle of a study that is carried by hand. In such a study, a debit made
// after a bundle was written reaches the aggregator with the next bundle, which also holds the
// release.
func (r *service) vouchFor(kept *protocol.LedgerHead) error {
	if kept == nil {
		return nil
	}
	entries, err := r.Store.Ledger()
	if err != nil {
		return err
	}
	return calls.Covers(entries, *kept)
}

// vouchPatiently retries vouch until the aggregator can be reached. Debited data must not be
// projected again because a connection was lost.
func (r *service) vouchPatiently(ctx context.Context) error {
	retry := node.Backoff{Least: 200 * time.Millisecond, Most: 10 * time.Second}
	for {
		err := r.vouch(ctx)
		if err == nil || !transient(err) || timeIsUp(ctx) {
			return err
		}
		r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Retrying, Err: err})
		if !retry.Wait(ctx, err) {
			return &node.WaitError{For: "the aggregator", Err: err}
		}
	}
}
