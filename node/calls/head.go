package calls

import (
	"context"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// KeptHead sends an aggregator the head of the ledger for it, and returns the head that it keeps.
func KeptHead(ctx context.Context, from Client, signer protocol.Signer, entries []ledger.Entry) (protocol.LedgerHead, error) {
	aggregator := from.Study.Aggregator.ID
	head := ledger.HeadFor(entries, aggregator)
	return from.ledger(ctx, signer.SignLedgerHead(aggregator, head.Count, head.Hash))
}

// Covers returns a *LedgerRolledBackError if a ledger lacks entries that a kept head covers.
func Covers(entries []ledger.Entry, kept protocol.LedgerHead) error {
	if ledger.Covers(entries, kept.Aggregator, ledger.Head{Count: kept.Count, Hash: kept.Hash}) {
		return nil
	}
	return &node.LedgerRolledBackError{Aggregator: kept.Aggregator, Signed: kept.Count, Held: ledger.HeadFor(entries, kept.Aggregator).Count}
}
