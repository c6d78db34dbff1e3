package protocol

import (
	"crypto/ed25519"
	"errors"
	"testing"
)

func ledgerSigner(t *testing.T, n byte) Signer {
	t.Helper()
	s, err := NewSigner(ed25519.NewKeyFromSeed(append(make([]byte, 31), n)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLedgerHead: both signatures cover every field, and neither is valid in place of the other.
func TestLedgerHead(t *testing.T) {
	party, aggregator, other := ledgerSigner(t, 1), ledgerSigner(t, 2), ledgerSigner(t, 3)
	good := aggregator.Countersign(party.SignLedgerHead(aggregator.ID(), 3, Digest{9}))
	if err := VerifyCountersigned(good); err != nil {
		t.Fatal(err)
	}
	if err := VerifyLedgerHead(party.SignLedgerHead(aggregator.ID(), 0, Digest{})); err != nil {
		t.Errorf("of an empty ledger: %v", err)
	}
	for name, spoil := range map[string]func(*LedgerHead){
		"party":                 func(h *LedgerHead) { h.Party = other.ID() },
		"aggregator":            func(h *LedgerHead) { h.Aggregator = other.ID() },
		"count":                 func(h *LedgerHead) { h.Count++ },
		"hash":                  func(h *LedgerHead) { h.Hash[0]++ },
		"signature":             func(h *LedgerHead) { h.Signature = h.Countersignature },
		"no signature":          func(h *LedgerHead) { h.Signature = nil },
		"countersignature":      func(h *LedgerHead) { h.Countersignature = h.Signature },
		"no countersignature":   func(h *LedgerHead) { h.Countersignature = nil },
		"countersigned by self": func(h *LedgerHead) { *h = party.Countersign(*h) },
	} {
		h := good
		spoil(&h)
		if err := VerifyCountersigned(h); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	small := good
	small.Party = PeerID{1}
	if err := VerifyLedgerHead(small); err == nil {
		t.Error("a small-order key signs")
	}
}
