package api

import (
	"slices"

	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

// ErrNotFound reports a study, a result or a message that does not exist.
var ErrNotFound error = fail.APINotHere

// ErrDamaged reports data of a study that can no longer be read from the state.
var ErrDamaged error = fail.APIDamaged

// Views is all that handlers see of an aggregator. It is read-only, and its methods are safe for
// concurrent use.
type Views interface {
	// Studies lists the studies, oldest first: the order never changes, and new ones come last.
	Studies() ([]Listed, error)
	// Study returns the state of one study, or ErrNotFound.
	Study(id protocol.StudyID) (Study, error)
	// Document returns a result that every party of the study may read, by its SHA-256, after
	// verifying the aggregator's signature; or ErrNotFound.
	Document(id protocol.StudyID, name protocol.Digest) (Document, error)
	// Messages returns at most limit messages of a study's board, starting at number from.
	Messages(id protocol.StudyID, from uint64, limit int) ([]Message, error)
	// News returns a channel that is closed at the next change of a study by this process.
	News(id protocol.StudyID) <-chan struct{}
	// Ready returns why this aggregator cannot serve, or nil.
	Ready() error
}

// Listed is a study in the list.
type Listed struct {
	ID    protocol.StudyID
	Added protocol.Instant
}

// Study is the state of one study.
type Study struct {
	File     *study.Study
	Added    protocol.Instant
	Status   Status
	Parties  []Party     // in the study's order
	Results  []Statement // the study's own first, then further ones, oldest first
	Lost     []string    // why further results can no longer be read here
	Messages uint64      // on the board
	Purged   bool        // the operator removed the sketches; results stay
	Chain    protocol.Digest
	Damaged  bool // the stored data cannot be read; File may have only id and name
}

// Released counts the parties whose whole release is here, or was until it was purged.
func (s Study) Released() (n int) {
	for _, p := range s.Parties {
		if slices.Contains(p.Steps, string(stored.StepReleased)) {
			n++
		}
	}
	return n
}

// Taken returns the steps that each party has taken.
func (s Study) Taken() []map[stored.Step]bool {
	out := stored.NewTaken(len(s.Parties))
	for i, p := range s.Parties {
		for _, step := range p.Steps {
			out[i][stored.Step(step)] = true
		}
	}
	return out
}

// Status is the status of a study.
type Status struct {
	stored.Snapshot
	Doing *Doing // nil: no long computation
}

// Doing is an analysis in progress.
type Doing struct {
	Analysis int                `json:"analysis" doc:"position in the study's list, from 1"`
	Of       int                `json:"of" doc:"analyses of the study"`
	Kind     study.AnalysisKind `json:"kind"`
	Done     int                `json:"done" doc:"steps of the analysis, of total"`
	Total    int                `json:"total"`
}

// Party is one party in a study.
type Party struct {
	Name     string
	ID       protocol.PeerID
	Steps    []string // those it took, in order, of: approved, committed, shared, confirmed, sketched, released
	Release  *Release // nil: no header is on the board
	Received int64    // bytes of the release that have arrived
}

// Whole reports whether all of a party's release has arrived.
func (p Party) Whole() bool { return p.Release != nil && p.Received == p.Release.Bytes }

// Release is a posted header: it describes a release without its data.
type Release struct {
	ID       protocol.Digest
	Records  int64
	Bytes    int64
	Sketches []protocol.ReleasedSketch
}

// Statement is the aggregator's signed statement of a result.
type Statement struct {
	Document protocol.Document
	Further  bool                 // requested after the study's own result
	At       protocol.Instant     // of a further result; 0 for the study's own, which is on the board
	Message  protocol.Digest      // the envelope on the board; zero for a further result
	Complete bool                 // of the study's own result: it has every member of the roster
	Kinds    []study.AnalysisKind // analyses in it
	Signed   []byte               // the statement with its signature, as protocol/SPEC.md has it
}

// Document is a result with its bytes as signed.
type Document struct {
	Statement Statement
	Raw       []byte
	Result    analysis.Result
}

// Message is one message on a board, without its payload.
type Message struct {
	Number  uint64 // from 0
	ID      protocol.Digest
	Kind    protocol.Kind
	Attempt uint32
	Sender  protocol.PeerID
	From    string           // the sender's name in the study
	Bytes   int              // of its payload
	Noted   protocol.Instant // when this aggregator put it on the board, by its own clock, unsigned; 0 if it recorded no time
}
