package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Event is a change of a study's state.
type Event string

// The moves, and Test, which is not of a study.
const (
	Hosted     Event = "hosted"     // it is served and waits for approvals
	Approved   Event = "approved"   // the roster is fixed, and the members agree on a seed
	Committed  Event = "committed"  // they have a seed, and make their releases
	Halfway    Event = "halfway"    // the first of two rounds is answered
	Released   Event = "released"   // all releases that count have arrived, and the result is being computed
	Renewed    Event = "renewed"    // an attempt is void, and the members agree again
	Result     Event = "result"     // the first result is on the board
	Superseded Event = "superseded" // a later result is on the board
	Closed     Event = "closed"     // it has ended with its last result
	Stopped    Event = "stopped"    // it could not go on
	Cancelled  Event = "cancelled"  // its operator ended it
	Test       Event = "test"
)

// Moves lists the moves of studies, in order.
func Moves() []Event {
	return []Event{Hosted, Approved, Committed, Halfway, Released, Renewed, Result, Superseded, Closed, Stopped, Cancelled}
}

// State is a study's state, as far as hooks are told.
type State struct {
	Name      string
	State     session.State // of an aggregator's study that was served
	Results   int           // on its board
	Cancelled bool          // if it is Stopped: by its operator
	WaitsFor  string
	From      []string
	Until     string
}

// announced is what a hook was last told of a study; zero: nothing.
type announced struct {
	State   session.State `json:"state"`
	Results int           `json:"results,omitempty"`
}

// move is the change from what was announced to now, or empty if there is none to tell.
func (was announced) move(now announced, cancelled bool) Event {
	switch {
	case was.State == now.State && was.Results == now.Results:
		return ""
	case now.State == session.Stopped && cancelled:
		return Cancelled
	case now.State == session.Stopped:
		return Stopped
	case now.Results > was.Results && was.Results > 0:
		return Superseded
	case now.Results > was.Results:
		return Result
	case now.State == session.Open:
		return Hosted
	case now.State == session.Agreeing && (was.State == "" || was.State == session.Open):
		return Approved
	case now.State == session.Agreeing:
		return Renewed
	case now.State == session.Collecting && was.State == session.Computing:
		return Halfway
	case now.State == session.Collecting:
		return Committed
	case now.State == session.Computing:
		return Released
	case now.State == session.Closed:
		return Closed
	}
	return ""
}

// Message is the body of a request.
type Message struct {
	Type      string   `json:"type" doc:"study. and the move, such as study.result; or test."`
	Timestamp string   `json:"timestamp" doc:"When the study moved, by the aggregator's clock: RFC 3339, UTC."`
	Data      MoveData `json:"data"`
}

// MoveData describes a study in a message. It has no number of a result and no value of data.
type MoveData struct {
	Aggregator string   `json:"aggregator" doc:"Its peer id."`
	Study      string   `json:"study" doc:"The study's id; empty in a test."`
	Name       string   `json:"name"`
	Number     int      `json:"number" doc:"Counts what this hook is told of this study, from 1."`
	Before     string   `json:"before" doc:"The state of which this hook was told last; empty at first."`
	After      string   `json:"after" doc:"The state now."`
	WaitsFor   string   `json:"waits_for"`
	From       []string `json:"from"`
	Until      string   `json:"until"`
}

// pending is a message that is not acknowledged yet.
type pending struct {
	ID   string           `json:"id"`
	At   protocol.Instant `json:"at"`
	Body json.RawMessage  `json:"body"`
}

func newPending(m Message, at protocol.Instant) pending {
	body, err := json.Marshal(m)
	if err != nil {
		panic("webhook: a message holds text alone: " + err.Error())
	}
	sum := sha256.Sum256(body)
	return pending{"msg_" + hex.EncodeToString(sum[:16]), at, body}
}
