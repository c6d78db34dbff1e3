// Package analysis answers a study's questions from the parties' releases: it
// merges the sketches, runs the kernel's estimators and writes the documents
// that parties read. It spends no privacy: everything here is post-processing.
//
// It is pure: the same releases give the same documents, but for handles. K-means
// starts from a generator seeded by the study's id, which is public; the handles by which
// a party is told of other parties' records are drawn afresh for every result and
// every party from the entropy that Options name.
package analysis
