// Package session implements the two state machines of a study, the party's and the aggregator's,
// and the view of the board that both use.
//
// A machine does no I/O, reads no clock and starts no goroutine. Step takes one event and returns
// Effects. The driver (package node) must carry them out in this order:
//
//  1. Persist: make every record durable, in order. If one fails, nothing of
//     the rest may happen, and the machine must be thrown away and restored.
//  2. Send: only then post the envelopes. Posting again is harmless: at each
//     step the machine offers those of its own that are not on the board yet.
//  3. Run: start the jobs; their outcomes come back as events.
//
// To restore a machine, make a new one from what was persisted and replay the stored board through
// Step. It finds among its own envelopes and secrets what it would otherwise draw or sign a second
// time.
//
// There is one file per round: roster.go, commit.go, share.go, confirm.go, release.go and result.go
// say what is admitted to the board and when. fault.go says what ends an attempt at the agreement,
// and late.go handles late parties. Both sides check the same rules, so a party never relies on the
// aggregator's checks.
//
// PartyTransitions and AggregatorTransitions are the tables of states. Package turn has the table
// of messages that drives both machines.
package session
