package job

import (
	"context"
	"errors"

	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
)

// World is what a release needs of its node. Whoever calls Run holds the study alone. For every method that
// writes: when it returns nil, what it wrote survives; when it returns an error, it has happened wholly or
// not at all, and the job is begun again.
type World interface {
	Data

	// Stored returns the header of what Save stored last and Drop did not end; nil where there is none.
	Stored() (header []byte, err error)

	// Debit appends to the ledger what due returns for the entries that it holds, all or nothing. What it
	// knows against the debit, as that other names have the same people's budget, it says here.
	Debit(ctx context.Context, due func(entries []ledger.Entry) ([]ledger.Entry, error)) error

	// Vouch has the ledger's head countersigned by who receives the release. It waits for that.
	Vouch(context.Context) error

	// TakenLook returns the first look that KeepLook stored; nil where there is none.
	TakenLook() ([]byte, error)
	KeepLook([]byte) error

	// Drop ends what is stored: the release of an attempt that is void.
	Drop() error

	// Save stores all of a release. There is one; another is refused until Drop.
	Save(Sealed) error

	// Forget ends what was kept on the way: the first look, and the exact sketch that was held.
	Forget() error

	At(Stage) // told when it is true
}

// Data is where a release comes from. Each call reads all of it.
type Data interface {
	// Look hands every batch of records to the looks that are not nil, one a sketch, and counts the records. Where what
	// they sum is held, it restores them from that, and the error is ErrUndecided until the steward has released it.
	Look(context.Context, []*release.Look) (records int64, err error)

	// Exact hands every batch to the builders, one a sketch. Where a sketch is held, it returns that and reads
	// nothing, also where nobody is to be asked any more: records may have been withdrawn from it. Until the
	// steward has released it, the error is ErrUndecided.
	Exact(context.Context, []*release.Builder) (Records, error)
}

// ErrUndecided reports a held sketch that its steward has not released. The job stays to be done.
var ErrUndecided = errors.New("the steward has not released the held sketch")

// ErrLook reports a stored first look that cannot be used. Nothing was released by it.
var ErrLook error = fail.BadFirstLook

// Records are what was read.
type Records struct {
	Count int64
	IDs   [][]byte        // in the order in which they were read; nil without a sketch of the records side
	Held  []release.Exact // that were held, one a sketch, rows in the order of IDs; nil: the builders have the records
	Look  []byte          // by which these were made; nil where there is none
}

// Stage is a point that a job passes.
type Stage string

// The stages, in the order in which a release without noise on the way passes them.
const (
	Projected Stage = "projected" // the sketch is in memory
	Debited   Stage = "debited"   // the ledger holds the debit
	Vouched   Stage = "vouched"   // its head is countersigned; no noise is drawn yet
	Noised    Stage = "noised"    // the exact sketch is gone
	Saved     Stage = "saved"     // the release is stored; no byte has left
)
