package session

import "github.com/cosketch/cosketch/protocol/wait"

import "github.com/cosketch/cosketch/protocol"

// State names the state of a study on a node.
type State string

// A party's states.
const (
	Invited   State = "invited"   // the study is here; its steward has not decided
	Approved  State = "approved"  // waits for the roster, or for the next attempt's
	Committed State = "committed" // waits for the other commits
	Shared    State = "shared"    // waits for the other shares
	Confirmed State = "confirmed" // waits for the other confirmations
	Joining   State = "joining"   // a late party; waits for a welcome
	Seeded    State = "seeded"    // the certificate is here; the sketch is being made
	Halfway   State = "halfway"   // of two rounds: the first is stored; waits for the interim
	Sketched  State = "sketched"  // the release is stored; it is being sent
	Released  State = "released"  // the release has arrived; waits for the result, or for late releases
	Done      State = "done"
	Failed    State = "failed"
	Withdrawn State = "withdrawn"
)

// The aggregator's states.
const (
	Open       State = "open"       // collects approvals
	Agreeing   State = "agreeing"   // the parties agree on a seed
	Collecting State = "collecting" // releases arrive
	Computing  State = "computing"  // analyses run
	Answered   State = "computed"   // a result is on the board; late releases may still come
	Closed     State = "closed"     // the last result is on the board
	Stopped    State = "stopped"    // the study could not continue
)

// Status says which state a study is in, and what it waits for, from whom, until when.
type Status struct {
	State   State
	WaitFor wait.Code         // empty if it waits for nothing
	From    []protocol.PeerID // who owes it
	Until   protocol.Instant  // 0 if nothing is awaited, and for analyses, which no date ends
	Failure error             // Failed or Stopped: why
	Blame   []Culprit         // who is to blame for attempts that ended, and for a failure
	Faults  []string          // why attempts at agreeing on the seed ended, in the study's names
}

// Terminal reports whether the study has ended on this node.
func (s Status) Terminal() bool {
	switch s.State {
	case Done, Failed, Withdrawn, Closed, Stopped:
		return true
	}
	return false
}
