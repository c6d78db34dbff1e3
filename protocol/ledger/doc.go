// Package ledger is a party's record of what it has released about its datasets: a
// hash chain of entries, the privacy loss they add up to, and the check of a new
// release against the steward's caps. It is arithmetic on values; package node/store
// keeps the entries, durably and before any noise is drawn.
//
// # What counts against which cap
//
// Loss is kept per unit, and each unit may have a cap. Under unit record a record-level
// release counts as it is, and an attribute-level release counts once for each attribute
// of the dataset that the study uses (group privacy: attributes·μ or attributes·ε),
// because a whole record is all its attributes, or more often where with its entry in the
// column of ones it is longer than so many changes of a value (release.Plan.Attributes). Under unit attribute an attribute-level
// release counts as it is and a record-level release counts twice, because changing one
// value replaces a record by another: it goes and a new one comes. Gaussian releases
// compose exactly, by μ; pure ones add ε, or ρ where that is less; a release without noise
// makes the loss of both units unbounded for good.
//
// # A ledger that was rolled back
//
// A chain that was cut off at its end is valid by itself. So a party signs the head of
// its ledger to each aggregator that it releases to, before noise is drawn, and the
// aggregator countersigns and keeps it (HeadFor, Covers). A party whose state was
// restored from an old backup is shown its own signed head, finds that its ledger
// does not cover it, and stops. An aggregator learns how many releases were debited for
// itself, and nothing about others.
package ledger
