// Package turn says whose turn it is. Each envelope is about an attempt, and on the board that
// attempt is in one phase. The table says for each kind and phase whether a board takes the
// envelope. Everything follows from the table: what is admitted, which of its own envelopes a party
// sends, and what the aggregator ignores in a request.
package turn

import "github.com/cosketch/cosketch/protocol"

// Phase is the state of an attempt on a board. Approvals, withdrawals, stops and closes are not
// about a single attempt: for them it is the phase of the attempt that gave the seed, or else of
// the newest one.
type Phase string

// The phases, in the order of the columns of the table.
const (
	NoRoster   Phase = "no roster"   // of this attempt; for kinds that belong to no attempt, of any
	Committing Phase = "commits"     // commits are missing
	Sharing    Phase = "shares"      // all commits are here, shares are missing
	Confirming Phase = "confirms"    // all shares are here, confirmations are missing
	FirstRound Phase = "first round" // in a study of two rounds: all confirmations are here; there is no interim
	Certified  Phase = "certified"   // all confirmations are here and, in a study of two rounds, the interim; there is no result
	HasResult  Phase = "result"      // there is a result, and the study accepts late parties
	Over       Phase = "over"        // it ended without a seed, and nobody can have seen one
	Unproved   Phase = "doubtful"    // it ended on the aggregator's word, without proof, after all shares were in
	Void       Phase = "void"        // its masked sum is missing a release
	Elsewhere  Phase = "other seed"  // it ended, and another attempt gave the seed
	Ended      Phase = "ended"       // the board accepts nothing more
)

// Turn says what a board does with an envelope of a kind in a phase.
type Turn string

// The turns.
const (
	Takes Turn = "takes" // it is taken if it fits
	Early Turn = "early" // too early: it is refused, and a party keeps it back
	Late  Turn = "late"  // too late: it is ignored, and a party drops it
)

// Row is one row of the table.
type Row struct {
	Kind protocol.Kind
	Who  string // who may post it
	In   [12]Turn
	If   string // conditions beside the phase and the payload's own rules
}

// Phases returns the columns of the table.
func Phases() [12]Phase {
	return [...]Phase{NoRoster, Committing, Sharing, Confirming, FirstRound, Certified, HasResult, Over, Unproved, Void, Elsewhere, Ended}
}

// Rows returns the table, which is also in SPEC.md.
func Rows() []Row { return rows[:] }

// rows is the protocol's table, one row per kind.
var rows = [...]Row{
	{protocol.KindApprove, "a listed party", [...]Turn{Takes, Late, Late, Late, Late, Late, Late, Late, Late, Late, Late, Late}, ""},
	{protocol.KindWithdraw, "a listed party", [...]Turn{Takes, Takes, Takes, Takes, Takes, Takes, Takes, Takes, Takes, Takes, Takes, Late}, "before its sender's first commit"},
	{protocol.KindRoster, "the aggregator", [...]Turn{Takes, Late, Late, Late, Late, Late, Late, Late, Late, Late, Late, Late}, "the attempt before is over, and none is certified"},
	{protocol.KindCommit, "a member", [...]Turn{Early, Takes, Late, Late, Late, Late, Late, Late, Late, Late, Late, Late}, ""},
	{protocol.KindShare, "a member", [...]Turn{Early, Early, Takes, Late, Late, Late, Late, Late, Late, Late, Late, Late}, ""},
	{protocol.KindConfirm, "a member", [...]Turn{Early, Early, Early, Takes, Late, Late, Late, Late, Late, Late, Late, Late}, ""},
	{protocol.KindComplaint, "a member", [...]Turn{Early, Early, Early, Takes, Takes, Takes, Late, Late, Late, Late, Late, Late}, "of a certified attempt, of a wrong tag or published alone"},
	{protocol.KindFault, "the aggregator", [...]Turn{Early, Takes, Takes, Takes, Takes, Takes, Late, Late, Late, Late, Late, Late}, "of a certified attempt, that masked releases are missing; else of the agreement"},
	{protocol.KindAbandon, "a member", [...]Turn{Early, Early, Early, Early, Late, Late, Late, Late, Takes, Late, Late, Late}, ""},
	{protocol.KindCertificate, "a member", [...]Turn{Early, Early, Early, Early, Late, Late, Late, Takes, Takes, Late, Late, Late}, "before any abandon of the attempt"},
	{protocol.KindJoin, "a newcomer", [...]Turn{Early, Early, Early, Early, Takes, Takes, Takes, Late, Late, Late, Late, Late}, ""},
	{protocol.KindWelcome, "a member", [...]Turn{Early, Early, Early, Early, Takes, Takes, Takes, Late, Late, Late, Late, Late}, "its join is on the board"},
	{protocol.KindJoined, "a newcomer", [...]Turn{Early, Early, Early, Early, Takes, Takes, Takes, Late, Late, Late, Late, Late}, "after a welcome"},
	{protocol.KindFirst, "a member", [...]Turn{Early, Early, Early, Early, Takes, Late, Late, Late, Late, Late, Late, Late}, ""},
	{protocol.KindInterim, "the aggregator", [...]Turn{Early, Early, Early, Early, Takes, Late, Late, Late, Late, Late, Late, Late}, ""},
	{protocol.KindRelease, "a member, a joined newcomer", [...]Turn{Early, Early, Early, Early, Early, Takes, Takes, Late, Late, Late, Late, Late}, ""},
	{protocol.KindResult, "the aggregator", [...]Turn{Early, Early, Early, Early, Early, Takes, Takes, Late, Late, Late, Late, Late}, ""},
	{protocol.KindStop, "the aggregator", [...]Turn{Takes, Takes, Takes, Takes, Takes, Takes, Late, Takes, Takes, Takes, Takes, Late}, ""},
	{protocol.KindClose, "the aggregator", [...]Turn{Early, Early, Early, Early, Early, Early, Takes, Early, Early, Early, Early, Late}, ""},
}

// Of looks a kind up in the table.
func Of(kind protocol.Kind, phase Phase) Turn {
	for _, row := range rows {
		if row.Kind != kind {
			continue
		}
		for i, column := range Phases() {
			if column == phase {
				return row.In[i]
			}
		}
	}
	return Early
}
