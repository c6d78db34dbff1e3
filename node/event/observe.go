package event

import (
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// Occurrence names what happened at an aggregator.
type Occurrence string

// The occurrences. An observer is told when they are true and durable.
const (
	Posted         Occurrence = "posted"          // an envelope of Happening.Kind is on the board
	ChunkKept      Occurrence = "chunk kept"      // Happening.Bytes of a release are stored
	ReleaseTaken   Occurrence = "release taken"   // a release is wholly here and acceptable
	ReleaseRefused Occurrence = "release refused" // it is wholly here and not what it says
	Moved          Occurrence = "moved"           // the study's status is another one
	Analysing      Occurrence = "analysing"       // Happening.Progress
	Computed       Occurrence = "computed"        // a result's documents are stored; Happening.Took
	Uncomputed     Occurrence = "uncomputed"      // the analyses failed; Happening.Took
	TakenDown      Occurrence = "taken down"      // the store failed at the study
	TakenUp        Occurrence = "taken up"        // the study is served
	Called         Occurrence = "called"          // Happening.Call was answered as Happening.Outcome says
)

// Happening is what an aggregator's observer is told. It holds no data value, no record
// id, no seed and no key.
type Happening struct {
	What     Occurrence
	Study    protocol.StudyID  // zero for Called
	Kind     protocol.Kind     // Posted
	Bytes    int64             // ChunkKept
	Progress analysis.Progress // Analysing
	Took     time.Duration     // Computed and Uncomputed
	Call     string            // Called: one of a few names
	Damaged  bool              // TakenDown: the study cannot be read; others are none the worse
	Outcome  string            // Called: ok, failed, or the code of the refusal in words
}

// AggregatorObserver is told what happens, by several goroutines at once. It must not
// block.
type AggregatorObserver func(Happening)
