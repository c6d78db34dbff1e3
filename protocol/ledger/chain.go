package ledger

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol"
)

// Append returns the entry with its place in the chain filled in, after entries,
// which are in order and verified. It refuses to debit one sketch of a study twice:
// a release is drawn once and then only re-sent (see Find).
func Append(entries []Entry, next Entry) (Entry, error) {
	if before, found := Find(entries, next.Study, next.Sketch); found {
		return Entry{}, fmt.Errorf("debiting sketch %d of study %s: entry %d of the ledger already did", next.Sketch, next.Study.Short(), before.Sequence)
	}
	next.Sequence, next.Previous = 1, protocol.Digest{}
	if n := len(entries); n > 0 {
		next.Sequence, next.Previous = entries[n-1].Sequence+1, entries[n-1].Hash()
	}
	if err := next.validate(); err != nil {
		return Entry{}, fmt.Errorf("debiting sketch %d of study %s: %w", next.Sketch, next.Study.Short(), err)
	}
	return next, nil
}

// Find returns the entry that debited a sketch of a study.
func Find(entries []Entry, study protocol.StudyID, sketch int) (Entry, bool) {
	for _, e := range entries {
		if e.Study == study && e.Sketch == sketch {
			return e, true
		}
	}
	return Entry{}, false
}

// VerifyChain checks that entries are one unbroken chain from the first on: valid
// fields, sequences 1, 2, 3, …, each linked to the entry before by hash. The error is
// a *BrokenChain. A chain that was cut off at its end is valid by itself: only the
// countersigned head that the aggregator holds shows that.
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

// BrokenChain reports the first entry at which a ledger is not what was written.
type BrokenChain struct {
	Sequence uint64
	Err      error
}

func (b *BrokenChain) Error() string {
	return fmt.Sprintf("ledger broken at entry %d: %v (restore the newest backup that verifies)", b.Sequence, b.Err)
}

// Unwrap returns what is wrong with the entry.
func (b *BrokenChain) Unwrap() error { return b.Err }
