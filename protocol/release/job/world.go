package job

import (
	"context"
	"errors"

	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
)

// World is what a release needs of its node. The caller of Run must hold the study exclusively.
// Every method that writes is durable when it returns nil. When it returns an error, the write has
// happened entirely or not at all, and the job starts again.
type World interface {
	Data

	// Stored returns the header of the last Save unless Drop removed it; nil if there is none.
	Stored() (header []byte, err error)

	// Debit appends what due returns, given the ledger's entries, all or nothing. It returns an
	// error if the node knows a reason against the debit, such as other names with the same
	// people's budget.
	Debit(ctx context.Context, due func(entries []ledger.Entry) ([]ledger.Entry, error)) error

	// Countersign has the ledger's head countersigned by the receiver of the release, and waits for it.
	Countersign(context.Context) error

	// StoredLook returns the first look that StoreLook stored; nil if there is none.
	StoredLook() ([]byte, error)
	StoreLook([]byte) error

	// Drop deletes the stored release of a void attempt.
	Drop() error

	// Save stores a whole release. It refuses a second one until Drop.
	Save(Sealed) error

	// Cleanup deletes intermediate results: the first look, and the held exact sketch.
	Cleanup() error

	At(Stage) // called when the stage is reached
}

// Data is the source of a release. Each call reads all of it.
type Data interface {
	// Look passes every batch of records to the looks that are not nil, one per sketch, and counts
	// the records. If their sums are held, it restores them instead; the error is ErrUndecided
	// until the steward has released them.
	Look(context.Context, []*release.Look) (records int64, err error)

	// Exact passes every batch to the builders, one per sketch. If a sketch is held, it returns
	// that and reads nothing, even if nobody needs to be asked any more: records may have been
	// withdrawn from it. The error is ErrUndecided until the steward has released it.
	Exact(context.Context, []*release.Builder) (Records, error)
}

// ErrUndecided reports a held sketch that its steward has not released. The job remains to be done.
var ErrUndecided = errors.New("the steward has not released the held sketch")

// ErrLook reports a stored first look that cannot be used. It was not used for any release.
var ErrLook error = fail.BadFirstLook

// Records describes the records that were read.
type Records struct {
	Count int64
	IDs   [][]byte        // in the order of reading; nil without a sketch of the records side
	Held  []release.Exact // the held sketches, one per sketch, rows in the order of IDs; nil: the builders have the records
	Look  []byte          // the look used for these; nil if there is none
}

// Stage is a point that a job reaches.
type Stage string

// The stages, in the order of a release that draws noise only at the end.
const (
	Projected     Stage = "projected" // the sketch is in memory
	Debited       Stage = "debited"   // the ledger holds the debit
	Countersigned Stage = "vouched"   // its head is countersigned; no noise is drawn yet
	Noised        Stage = "noised"    // the exact sketch is gone
	Saved         Stage = "saved"     // the release is stored; no byte has left
)
