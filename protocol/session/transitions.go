package session

import "github.com/cosketch/cosketch/protocol/wait"

// Transition is one row of a machine's table: a state, what it waits for, from whom and until when,
// and the states that can follow. The table has every state that a node shows. Every state except
// final ones has an owner and an end.
type Transition struct {
	State State
	Waits []wait.Code
	Owner string // who owes it
	Until string // when the wait ends by itself
	Next  []State
}

// PartyTransitions returns the party's table. Failed and Withdrawn can follow every state that is
// not final, and are not repeated in each row. Approved follows a release if its attempt is void.
func PartyTransitions() []Transition {
	return []Transition{
		{Invited, []wait.Code{wait.Approval}, "this party's steward", "expires; late_until where the study has it", []State{Approved, Joining}},
		{Approved, []wait.Code{wait.Approvals, wait.Roster, wait.NextRoster, wait.Abandons, wait.Seed, wait.Board},
			"parties that have not decided; the aggregator; members of the roster",
			"expires, the end of the attempt, deadline", []State{Committed, Joining}},
		{Committed, []wait.Code{wait.Commits, wait.Board}, "members whose commit is missing", "the end of the attempt, else deadline", []State{Approved, Shared}},
		{Shared, []wait.Code{wait.Shares, wait.AttemptEnd, wait.Board}, "members whose share is missing; the aggregator after a complaint",
			"the end of the attempt, else deadline", []State{Approved, Confirmed, Committed}},
		{Confirmed, []wait.Code{wait.Confirms, wait.AttemptEnd, wait.Board}, "members whose confirmation is missing; the aggregator after a complaint",
			"the end of the attempt, else deadline", []State{Approved, Committed, Seeded}},
		{Joining, []wait.Code{wait.Welcome}, "the members", "late_until", []State{Seeded}},
		{Seeded, []wait.Code{wait.Sketch, wait.First}, "this party", "deadline, or late_until; of the first round its end", []State{Sketched, Halfway}},
		{Halfway, []wait.Code{wait.Firsts, wait.Interim, wait.Result, wait.Fetching}, "members whose first round is missing; the aggregator; this party",
			"the end of the first round, then deadline", []State{Seeded, Approved, Committed, Done}},
		{Sketched, []wait.Code{wait.Sending}, "this party", "deadline, or late_until", []State{Released, Approved, Committed, Halfway}},
		{Released, []wait.Code{wait.Result, wait.Fetching, wait.OwnWelcome, wait.Late, wait.Close},
			"the aggregator; this party; listed parties that may still come", "deadline, or late_until", []State{Done, Sketched, Approved, Committed}},
		{Done, nil, "", "", nil},
		{Failed, nil, "", "", nil},
		{Withdrawn, nil, "", "", nil},
	}
}

// AggregatorTransitions returns the aggregator's table. Stopped can follow every state before the
// first result.
func AggregatorTransitions() []Transition {
	return []Transition{
		{Open, []wait.Code{wait.Approvals}, "parties that have not decided", "expires", []State{Agreeing}},
		{Agreeing, []wait.Code{wait.Commits, wait.Shares, wait.Confirms}, "members whose message is missing",
			"the end of the attempt, else deadline", []State{Collecting}},
		{Collecting, []wait.Code{wait.Firsts, wait.Releases, wait.AllReleases}, "members and newcomers whose first round or release is missing", "the end of the first round, deadline, then late_until", []State{Computing, Agreeing}},
		{Computing, []wait.Code{wait.Interim, wait.Analyses}, "the aggregator", "no date: analyses end by themselves", []State{Closed, Answered, Collecting}},
		{Answered, []wait.Code{wait.Late}, "listed parties that may still come", "late_until", []State{Computing, Closed}},
		{Closed, nil, "", "", nil},
		{Stopped, nil, "", "", nil},
	}
}
