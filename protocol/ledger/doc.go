// Package ledger is a party's record of what it has released about its datasets: a hash chain of
// entries, their total privacy loss, and the check of a new release against the steward's caps. It
// is arithmetic on values; package node/store stores the entries durably before any noise is drawn.
//
// # What counts against which cap
//
// Loss is kept per unit, and each unit may have a cap. Under unit record, a record-level release
// counts once. An attribute-level release counts once for each attribute of the dataset that the
// study uses (group privacy: attributes·μ or attributes·ε), because a whole record is all its
// attributes. It counts more often if the record, with its entry in the column of ones, is longer
// than that many changes of a value (release.Plan.Attributes). Under unit attribute, an
// attribute-level release counts once. A record-level release counts twice, because changing one
// value replaces a record by another: one is removed and one added. Gaussian releases compose
// exactly, by μ; pure ones add ε, or ρ where that is less; a release without noise makes the loss
// of both units unbounded for good.
//
// # A ledger that was rolled back
//
// A chain that was cut off at its end is valid by itself. So, before noise is drawn, a party signs
// the head of its ledger to each aggregator that it releases to, and the aggregator countersigns
// and keeps it (HeadFor, Covers). A party whose state was restored from an old backup is shown its
// own signed head, finds that its ledger does not cover it, and stops. An aggregator learns how
// many releases were debited for itself, and nothing about others.
package ledger
