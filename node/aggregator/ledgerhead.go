package aggregator

import (
	"context"

	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
)

// ledger keeps the head of the caller's ledger and answers with the highest one that it keeps,
// countersigned. It does not refuse a lower head, or another one of the same count: what the sender
// signed before refutes it.
func (a *server) ledger(_ context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
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
