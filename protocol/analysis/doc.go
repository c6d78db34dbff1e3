// Package analysis answers a study's questions from the parties' releases: it
// merges the sketches, runs the kernel's estimators and writes the documents
// that parties read. It spends no privacy: everything here is post-processing.
//
// It is pure: the same releases give the same documents. K-means starts from a
// generator seeded by the study's id, which is public.
package analysis
