package protocol

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"

	"github.com/cosketch/cosketch/seed/transcript"
)

// LedgerHead is a party's signed statement to an aggregator about the head of its privacy ledger
// for that aggregator. The aggregator's countersignature confirms that it keeps the statement. A
// head belongs to no study and is on no board; only the two nodes see it. If a party is shown a
// head of its own that its ledger does not cover, it has lost part of the ledger.
type LedgerHead struct {
	Party            PeerID
	Aggregator       PeerID
	Count            uint64 // releases debited for this aggregator
	Hash             Digest // hash of the last of those entries, zero when Count is 0
	Signature        []byte // the party's
	Countersignature []byte // the aggregator's; empty before Countersign
}

const (
	ledgerHeadPrefix       = "cosketch/1/ledger-head\x00"
	countersignaturePrefix = "cosketch/1/ledger-countersignature\x00"
)

// preimage returns the bytes that either signature covers.
func (h *LedgerHead) preimage(prefix string) []byte {
	b := append([]byte(nil), prefix...)
	b = transcript.AppendField(b, h.Party[:])
	b = transcript.AppendField(b, h.Aggregator[:])
	b = binary.BigEndian.AppendUint64(b, h.Count)
	return transcript.AppendField(b, h.Hash[:])
}

// String names the head. Only the party can interpret the hash.
func (h *LedgerHead) String() string {
	return fmt.Sprintf("ledger head %d of %s for %s", h.Count, h.Party, h.Aggregator)
}

// SignLedgerHead signs a party's head for an aggregator.
func (s Signer) SignLedgerHead(aggregator PeerID, count uint64, hash Digest) LedgerHead {
	h := LedgerHead{Party: s.id, Aggregator: aggregator, Count: count, Hash: hash}
	h.Signature = s.sign(h.preimage(ledgerHeadPrefix))
	return h
}

// Countersign returns the head with this aggregator's countersignature.
func (s Signer) Countersign(h LedgerHead) LedgerHead {
	h.Countersignature = s.sign(h.preimage(countersignaturePrefix))
	return h
}

// VerifyLedgerHead checks the party's signature, not the countersignature.
func VerifyLedgerHead(h LedgerHead) error {
	if _, err := PeerIDFromKey(h.Party[:]); err != nil { // anybody can sign under a small-order key
		return fmt.Errorf("party: %w", err)
	}
	if !ed25519.Verify(h.Party[:], h.preimage(ledgerHeadPrefix), h.Signature) {
		return fmt.Errorf("%v: %w", &h, ErrSignature)
	}
	return nil
}

// VerifyCountersigned checks both signatures.
func VerifyCountersigned(h LedgerHead) error {
	if err := VerifyLedgerHead(h); err != nil {
		return err
	}
	if !ed25519.Verify(h.Aggregator[:], h.preimage(countersignaturePrefix), h.Countersignature) {
		return fmt.Errorf("countersignature of %v: %w", &h, ErrSignature)
	}
	return nil
}
