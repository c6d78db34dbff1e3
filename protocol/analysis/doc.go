// Package analysis answers a study's questions from the parties' releases: it merges the sketches,
// runs the kernel's estimators and writes the documents that parties read. It spends no privacy
// budget: everything here is post-processing.
//
// Results are reproducible: the same releases give the same documents, except for handles. K-means
// starts from a generator seeded by the study's id, which is public. Handles stand for other
// parties' records in what a party is told. They are drawn afresh for every result and every party,
// from Options.Entropy.
package analysis
