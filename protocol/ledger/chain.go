package ledger

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Append returns the entry with its position in the chain, after entries, which must be in order
// and verified. It refuses to debit a release twice: a release is drawn once and then only re-sent
// (see Paid).
func Append(entries []Entry, next Entry) (Entry, error) {
	if before, paid := Debited(entries, next); paid {
		return Entry{}, fmt.Errorf("debiting %s: entry %d of the ledger already did", next.released(), before.Sequence)
	}
	next.Sequence, next.Previous = 1, protocol.Digest{}
	if n := len(entries); n > 0 {
		next.Sequence, next.Previous = entries[n-1].Sequence+1, entries[n-1].Hash()
	}
	if err := next.validate(); err != nil {
		return Entry{}, fmt.Errorf("debiting %s: %w", next.released(), err)
	}
	return next, nil
}

// Debited returns the entry that already debited a release: the same sketch and round of a study, or
// the same query, of the same dataset, with the same guarantee for as many attributes. A debit for
// one dataset does not pay for another that the steward has since put in its place.
func Debited(entries []Entry, next Entry) (Entry, bool) {
	for _, e := range entries {
		same := e // except for its position and its receiver
		same.Sequence, same.Previous, same.Salt, same.At, same.Aggregator = next.Sequence, next.Previous, next.Salt, next.At, next.Aggregator
		if same == next {
			return e, true
		}
	}
	return Entry{}, false
}

// Head is the state of a ledger for one aggregator: the number of releases debited for it, and the
// hash of the last of those entries. The hash covers all earlier entries, of all aggregators; the
// entries' salts hide them.
type Head struct {
	Count uint64
	Hash  protocol.Digest // zero when Count is 0
}

// HeadFor returns the ledger's head for an aggregator. It changes only with debits for that
// aggregator, so it reveals nothing about the others.
func HeadFor(entries []Entry, aggregator protocol.PeerID) Head {
	var h Head
	for _, e := range entries {
		if e.Aggregator == aggregator {
			h = Head{Count: h.Count + 1, Hash: e.Hash()}
		}
	}
	return h
}

// Covers reports whether a head was once the ledger's own for the aggregator, so that no entry it
// counts is missing.
func Covers(entries []Entry, aggregator protocol.PeerID, h Head) bool {
	if h == (Head{}) {
		return true
	}
	var count uint64
	for _, e := range entries {
		if e.Aggregator != aggregator {
			continue
		}
		if count++; count == h.Count {
			return e.Hash() == h.Hash
		}
	}
	return false
}

// VerifyChain checks that entries are one unbroken chain from the first on: valid fields, sequences
// 1, 2, 3, …, each linked to the previous entry by hash. The error is a *BrokenChain. A chain that
// was cut off at its end still passes: only the countersigned head that the aggregator holds
// reveals that.
func VerifyChain(entries []Entry) error {
	var previous protocol.Digest
	for i, e := range entries {
		place := uint64(i) + 1
		switch {
		case e.Sequence != place:
			return &BrokenChain{Sequence: place, Err: fmt.Errorf("found sequence %d in its place", e.Sequence)}
		case e.Previous != previous:
			return &BrokenChain{Sequence: place, Err: fmt.Errorf("it follows %.8s, but the entry before is %.8s", e.Previous, previous)}
		}
		if err := e.validate(); err != nil {
			return &BrokenChain{Sequence: place, Err: err}
		}
		previous = e.Hash()
	}
	return nil
}

// BrokenChain is the error of a ledger that was changed; Sequence is the first bad entry.
type BrokenChain struct {
	Sequence uint64
	Err      error
}

func (b *BrokenChain) Error() string { return b.Fail().Error() }

// Fail returns the catalogue entry of a broken ledger.
func (b *BrokenChain) Fail() *fail.Error { return fail.LedgerBroken.Of(b.Err, b.Sequence) }

// Unwrap returns what is wrong with the entry.
func (b *BrokenChain) Unwrap() error { return b.Err }
