// Package session holds the two machines of a study, the party's and the
// aggregator's, and the view of the board that both are built on.
//
// A machine does no I/O, reads no clock and starts no goroutine. Step takes one
// event and returns Effects, whose order is part of the contract of whoever
// drives it (package node):
//
//  1. Persist: make every record durable, in order. If one fails, nothing of
//     the rest may happen, and the machine must be thrown away and restored.
//  2. Send: only then post the envelopes. Posting again is harmless: the
//     machine offers whatever of its own is not on the board yet at each step.
//  3. Run: start the jobs; their outcomes come back as events.
//
// A machine is restored by making it anew from what was persisted and replaying
// the stored board through Step. What it would otherwise draw or sign a second
// time it finds among its own envelopes and secrets.
//
// One file per round: roster.go, commit.go, share.go, confirm.go, release.go,
// result.go hold what is admitted to the board and when; fault.go what ends an
// attempt at the agreement, and late.go who comes late. Both sides check the same
// rules, so a party never relies on the aggregator having checked.
//
// PartyTransitions and AggregatorTransitions are the tables of states; package turn has
// the table of messages, by which both machines are driven.
package session
