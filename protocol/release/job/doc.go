// Package job is the only way from a party's data to a stored release. The privacy of the records
// depends on its order:
//
//	project → debit durably → have the ledger's head countersigned → draw noise → store durably → (only then) send
//
// If noise is drawn on the way to the sketch, as in randomised response and first looks, the debit
// comes before that:
//
//	debit → draw noise and project → store
//	look → debit → draw the look's noise → store the look → project by it → draw noise → store
//
// The release of a study, one after a void attempt, a query, a release of a held sketch and a
// rehearsal differ only in the values of their Spec. Each stage has a type that only the stage
// before can make, so another order does not compile: only a paid release draws noise, only a
// noised one is sealed, and only a stored one may be sent.
//
// The package does no input or output. It asks a World for what it needs of a node. Between two
// stages everything is in memory: an interrupted job starts again, and continues from what is
// stored. A debit without a release is found and not made again; a stored release is found and
// never drawn again.
package job
