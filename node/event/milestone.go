package event

import (
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Milestone is a point that a party's study passes. Observers are called synchronously, once it is
// reached and durable.
type Milestone string

// The milestones of a party, in order.
const (
	Checked   Milestone = "checked"   // the data file was read once and fits the study
	Persisted Milestone = "persisted" // this party's envelope of Progress.Kind is stored, not yet sent
	Waiting   Milestone = "waiting"   // for what: Progress.Status
	Reading   Milestone = "reading"   // records are read and projected: Progress.Done of Progress.Total bytes
	Parts     Milestone = "parts"     // the data are elsewhere; waiting for parts of their sketch
	Held      Milestone = "held"      // the exact sketch is on disk and waits for the steward: Progress.Note
	Projected Milestone = "projected" // the sketch is in memory; nothing is debited, except under randomised response
	Debited   Milestone = "debited"   // the ledger holds the debit; no noise is drawn yet
	Stored    Milestone = "stored"    // the noised release is stored; no byte has been sent
	Uploading Milestone = "uploading" // Progress.Done of Progress.Total bytes have arrived
	Uploaded  Milestone = "uploaded"  // all of the release has arrived
	Retrying  Milestone = "retrying"  // the aggregator cannot be reached: Progress.Err
	Clocks    Milestone = "clocks"    // this clock and the aggregator's differ while the study waits: Progress.Note
	Finished  Milestone = "finished"  // the result is stored
)

// Progress is what an observer of a party receives.
type Progress struct {
	Study     protocol.StudyID
	Milestone Milestone
	Kind      protocol.Kind  // Persisted; Stored, if it is a first round and not a release
	Status    session.Status // Waiting
	Done      int64          // Reading and Uploading: bytes
	Total     int64
	Note      string // a note for the steward, in words; never a value or an id
	Err       error  // Retrying
}

// Observer receives a party's progress. It must not block for long.
type Observer func(Progress)
