package node

import (
	"context"
	"time"

	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/wire"
)

// vouch shows the aggregator the signed head of this party's ledger for it, and has it
// countersigned. Where the aggregator keeps a head that this party signed and its
// ledger does not cover, the error is a *LedgerRolledBackError. It is asked before this
// party sends anything, and between a debit and its noise: so every release that leaves
// is in a head that the aggregator keeps.
func (r *service) vouch(ctx context.Context) error {
	aggregator := r.study.Aggregator.ID
	if byHand, ok := r.client.carrier.(*mail); ok {
		return r.vouchFor(byHand.head)
	}
	entries, err := r.Store.Ledger()
	if err != nil {
		return err
	}
	head := ledger.HeadFor(entries, aggregator)
	kept, err := keptHead(ctx, r.client, r.signer, entries)
	if err != nil {
		return err
	}
	if kept.Count == head.Count && kept.Hash == head.Hash {
		return nil
	}
	// Another study of this party may have been debited since: look again.
	return r.vouchFor(&kept)
}

// vouchFor compares the ledger with a head that the aggregator keeps; nil when none is
// known, as before the first bundle of a study that is carried by hand. There, what is
// debited after a bundle was written reaches the aggregator with the next, which holds
// the release too.
func (r *service) vouchFor(kept *protocol.LedgerHead) error {
	if kept == nil {
		return nil
	}
	entries, err := r.Store.Ledger()
	if err != nil {
		return err
	}
	return covers(entries, *kept)
}

// keptHead shows an aggregator the head of a ledger for it, and returns the one that it keeps.
func keptHead(ctx context.Context, from client, signer protocol.Signer, entries []ledger.Entry) (protocol.LedgerHead, error) {
	aggregator := from.study.Aggregator.ID
	head := ledger.HeadFor(entries, aggregator)
	return from.ledger(ctx, signer.SignLedgerHead(aggregator, head.Count, head.Hash))
}

// covers is a *LedgerRolledBackError where a ledger lacks what a kept head covers.
func covers(entries []ledger.Entry, kept protocol.LedgerHead) error {
	if ledger.Covers(entries, kept.Aggregator, ledger.Head{Count: kept.Count, Hash: kept.Hash}) {
		return nil
	}
	return &LedgerRolledBackError{Aggregator: kept.Aggregator, Signed: kept.Count, Held: ledger.HeadFor(entries, kept.Aggregator).Count}
}

// vouchPatiently vouches as soon as the aggregator can be reached. What was debited
// must not be projected again because a connection was lost.
func (r *service) vouchPatiently(ctx context.Context) error {
	retry := backoff{least: 200 * time.Millisecond, most: 10 * time.Second}
	for {
		err := r.vouch(ctx)
		if err == nil || !transient(err) || timeIsUp(ctx) {
			return err
		}
		r.Observe(Progress{Study: r.study.ID, Milestone: Retrying, Err: err})
		if !retry.wait(ctx, err) {
			return &WaitError{For: "the aggregator", Err: err}
		}
	}
}

// ledger keeps the head of the caller's ledger and answers with the highest one that it
// keeps, countersigned. So a lower head, or another one of the same count, is refused by
// nothing but what its sender signed before.
func (a *Aggregator) ledger(_ context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	head, err := wire.DecodeLedgerHead(request)
	switch {
	case err != nil:
		return nil, p2p.Refuse(p2p.CodeInvalid, "%v", err)
	case head.Party != from || head.Aggregator != a.ID():
		return nil, p2p.Refuse(p2p.CodeRefused, "%v is not the caller's own for this aggregator", &head)
	}
	if err := protocol.VerifyLedgerHead(head); err != nil {
		return nil, p2p.Refuse(p2p.CodeInvalid, "%v", err)
	}
	head.Countersignature = nil
	raw, err := a.Store.KeepLedgerHead(from, head.Count, wire.EncodeLedgerHead(head))
	if err != nil {
		return nil, err
	}
	kept, err := wire.DecodeLedgerHead(raw)
	if err != nil {
		return nil, err
	}
	if kept.Count != head.Count || kept.Hash != head.Hash {
		a.refusals.Warn(from.String(), "a party's ledger head is not the highest that it signed", "sent", head.Count, "kept", kept.Count)
	}
	return wire.EncodeLedgerHead(a.signer.Countersign(kept)), nil
}
