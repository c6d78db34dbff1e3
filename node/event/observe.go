package event

import (
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// Type names what happened at an aggregator.
type Type string

// The occurrences. Observers are called once they are true and durable.
const (
	Posted         Type = "posted"          // an envelope of Happening.Kind is on the board
	ChunkKept      Type = "chunk kept"      // Happening.Bytes of a release are stored
	ReleaseTaken   Type = "release taken"   // a whole release has arrived and is acceptable
	ReleaseRefused Type = "release refused" // a whole release has arrived and does not match its header
	Moved          Type = "moved"           // the study's status has changed
	Analysing      Type = "analysing"       // Happening.Progress
	Computed       Type = "computed"        // a result's documents are stored; Happening.Took
	Uncomputed     Type = "uncomputed"      // the analyses failed; Happening.Took
	TakenDown      Type = "taken down"      // the study cannot be served
	TakenUp        Type = "taken up"        // the study is being served
	Called         Type = "called"          // Happening.Call was answered as Happening.Outcome says
)

// Event is what an aggregator's observer receives. It holds no data value, no record id, no
// seed and no key.
type Event struct {
	What     Type
	Study    protocol.StudyID  // zero for Called
	Kind     protocol.Kind     // Posted
	Bytes    int64             // ChunkKept
	Progress analysis.Progress // Analysing
	Took     time.Duration     // Computed and Uncomputed
	Call     string            // Called: one of a few names
	Damaged  bool              // TakenDown: the study cannot be read; others are unaffected
	Outcome  string            // Called: ok, failed, or the code of the refusal in words
}

// AggregatorObserver receives what happens, from several goroutines at once. It must not block.
type AggregatorObserver func(Event)
