// Package job is the one way from a party's data to a stored release. The privacy of the records
// rests on its order:
//
//	project → debit durably → have the ledger's head countersigned → draw noise → store durably → (only then) send
//
// Where noise is drawn on the way to the sketch, as randomised response and a first look do, the debit
// comes before that:
//
//	debit → draw noise and project → store
//	look → debit → draw the look's noise → store the look → project by it → draw noise → store
//
// The release of a study, one after a void attempt, a query, a release of what was held and a rehearsal
// are values of one Spec and differ in nothing else. Each stage is a type that only the stage before can
// make, so that another order does not compile: noise is drawn by who has paid, sealed is what was noised,
// and what was stored is all that may be sent.
//
// The package does no input and output. What it needs of a node it asks of a World. Between two stages
// there is only memory: a job that ended anywhere is begun again, and goes on from what is stored. A debit
// without a release is found and not made again; a release that is stored is found and never drawn again.
package job
