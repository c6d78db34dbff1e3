package api

import (
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wait"
)

// ErrNotFound reports a study, a result or a message that is not there.
var ErrNotFound error = fail.APINotHere

// ErrDamaged reports something of a study that cannot be read from the state any more.
var ErrDamaged error = fail.APIDamaged

// Views is all that handlers see of an aggregator. It is read-only, and its methods may
// be called concurrently.
type Views interface {
	// Studies lists the studies, the oldest first: the order never changes, and new ones
	// come last.
	Studies() ([]Listed, error)
	// Study shows one study as it stands, or ErrNotFound.
	Study(id protocol.StudyID) (Study, error)
	// Document returns a result that every party of the study may read, by the SHA-256 of
	// its bytes, after verifying the aggregator's signature; else ErrNotFound.
	Document(id protocol.StudyID, name protocol.Digest) (Document, error)
	// Messages returns at most limit messages of a study's board, from a number on.
	Messages(id protocol.StudyID, from uint64, limit int) ([]Message, error)
	// News is closed at the next change of a study that this process makes.
	News(id protocol.StudyID) <-chan struct{}
	// Ready says why this aggregator cannot serve, or nil.
	Ready() error
}

// Listed is a study in the list.
type Listed struct {
	ID    protocol.StudyID
	Added protocol.Instant
}

// Study is one study as it stands.
type Study struct {
	File     *study.Study
	Added    protocol.Instant
	Status   Status
	Parties  []Party     // in the study's order
	Results  []Statement // the study's own first, then further ones, the oldest first
	Lost     []string    // further results that cannot be read here any more, and why
	Messages uint64      // on the board
	Purged   bool        // the operator removed the sketches; results stay
	Chain    protocol.Digest
	Damaged  bool // what is stored cannot be read; of File there may be no more than id and name
}

// Status says where a study stands.
type Status struct {
	State    string           // of package session, added where it was never served, or damaged
	Ended    bool             // nothing will change any more
	WaitFor  wait.Code        // empty when it waits for nothing
	From     []string         // who owes it, by name
	Until    protocol.Instant // 0: no date ends the wait
	Failure  string           // why it ended without a result
	Reason   string           // of a failure that is a stop: why, without by whom and when
	Trouble  string           // why it is not served for the time being
	Grace    string           // a date has passed that does not count yet
	Faults   []string         // why attempts at agreeing on the seed ended
	Culprits []Culprit
	Doing    *Doing // nil: nothing that takes long
}

// Culprit is who is to blame for the end of an attempt, or of the study.
type Culprit struct {
	Name     string `json:"name"`
	ID       string `json:"id" doc:"peer id"`
	Standing string `json:"standing" doc:"proved, claimed (by the aggregator) or seen"`
	What     string `json:"what"`
}

// Doing is an analysis that is being computed.
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
	Steps    []string // of approved, committed, shared, confirmed, sketched and released: those that it took, in order
	Release  *Release // nil: no header is on the board
	Received int64    // bytes of the release that are here
}

// Whole reports that all of a party's release is here.
func (p Party) Whole() bool { return p.Release != nil && p.Received == p.Release.Bytes }

// Release is a posted header: what a release is, never what it holds.
type Release struct {
	ID       protocol.Digest
	Records  int64
	Bytes    int64
	Sketches []protocol.ReleasedSketch
}

// Statement is what the aggregator signed about a result.
type Statement struct {
	Document protocol.Document
	Further  bool                 // asked after the study's own result
	At       protocol.Instant     // of a further result; 0 for the study's own, which is on the board
	Message  protocol.Digest      // the envelope on the board; zero for a further result
	Complete bool                 // every member of the roster is in it; the study's own
	Kinds    []study.AnalysisKind // that it answers
	Signed   []byte               // the statement with its signature, as protocol/SPEC.md has it
}

// Document is a result with its bytes as they were signed.
type Document struct {
	Statement Statement
	Raw       []byte
	Result    analysis.Result
}

// Message is one message on a board, without what it says.
type Message struct {
	Number  uint64 // from 0
	ID      protocol.Digest
	Kind    protocol.Kind
	Attempt uint32
	Sender  protocol.PeerID
	From    string           // the sender's name in the study
	Bytes   int              // of its payload
	Noted   protocol.Instant // when this aggregator put it on the board, by its own clock, which nobody signs; 0 where it kept no time
}
