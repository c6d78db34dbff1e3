package event

import (
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// Occurrence names what happened at an aggregator.
type Occurrence string

// The occurrences. Observers are called once they are true and durable.
const (
	Posted         Occurrence = "posted"          // an envelope of Happening.Kind is on the board
	ChunkKept      Occurrence = "chunk kept"      // Happening.Bytes of a release are stored
	ReleaseTaken   Occurrence = "release taken"   // a whole release has arrived and is acceptable
	ReleaseRefused Occurrence = "release refused" // a whole release has arrived and does not match its header
	Moved          Occurrence = "moved"           // the study's status has changed
	Analysing      Occurrence = "analysing"       // Happening.Progress
	Computed       Occurrence = "computed"        // a result's documents are stored; Happening.Took
	Uncomputed     Occurrence = "uncomputed"      // the analyses failed; Happening.Took
	TakenDown      Occurrence = "taken down"      // the study cannot be served
	TakenUp        Occurrence = "taken up"        // the study is being served
	Called         Occurrence = "called"          // Happening.Call was answered as Happening.Outcome says
)

// Happening is what an aggregator's observer receives. It holds no data value, no record id, no
// seed and no key.
type Happening struct {
	What     Occurrence
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
type AggregatorObserver func(Happening)
