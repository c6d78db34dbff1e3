package wire

import (
	"crypto/ed25519"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire/wirepb"
)

// maxCount bounds the number of releases in a ledger head, so that it fits every database.
const maxCount = 1 << 62

// EncodeLedgerHead encodes a head, with or without its countersignature.
func EncodeLedgerHead(h protocol.LedgerHead) []byte {
	return marshal(&wirepb.LedgerHead{
		Party: h.Party[:], Aggregator: h.Aggregator[:], Count: h.Count, Hash: h.Hash[:],
		Signature: h.Signature, Countersignature: h.Countersignature,
	})
}

// DecodeLedgerHead decodes what EncodeLedgerHead wrote; it does not check signatures.
func DecodeLedgerHead(b []byte) (h protocol.LedgerHead, err error) {
	var m wirepb.LedgerHead
	err = decode("ledger head", b, &m, func() error {
		if h.Party, err = protocol.PeerIDFromKey(m.GetParty()); err != nil {
			return fmt.Errorf("party: %w", err)
		}
		if h.Aggregator, err = protocol.PeerIDFromKey(m.GetAggregator()); err != nil {
			return fmt.Errorf("aggregator: %w", err)
		}
		if h.Hash, err = bytes32[protocol.Digest]("hash", m.GetHash()); err != nil {
			return err
		}
		h.Count, h.Signature, h.Countersignature = m.GetCount(), m.GetSignature(), m.GetCountersignature()
		if h.Count > maxCount || len(h.Signature) != ed25519.SignatureSize || len(h.Countersignature) != 0 && len(h.Countersignature) != ed25519.SignatureSize {
			return fmt.Errorf("count %d or signatures of %d and %d bytes are out of range", h.Count, len(h.Signature), len(h.Countersignature))
		}
		return nil
	})
	return h, err
}
