// Package party drives one organisation's node: it serves studies to their end, asks queries, and takes
// and gives bundles.
//
// The driver's contract is that of session.Effects: persist in order, then send, then run. The order that
// privacy rests on is that of package release/job, to which this node is a World: debit the ledger durably,
// have its head countersigned, draw noise, store the release durably, and only then let a first byte out. Every
// step finds what an interrupted run left behind and goes on from there, so a restart is the happy path run again.
package party
