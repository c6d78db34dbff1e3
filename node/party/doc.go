// Package party drives one organisation's node: it serves studies to their end, asks queries, and
// imports and exports bundles.
//
// The driver obeys the contract of session.Effects: persist in order, then send, then run. Privacy
// depends on the order of package release/job, for which this node is a World: debit the ledger
// durably, have its head countersigned, draw noise, store the release durably, and only then send
// the first byte. Every step finds what an interrupted run left behind and continues from there, so
// a restart repeats the normal path.
package party
