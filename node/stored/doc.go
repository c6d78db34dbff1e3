// Package stored reads what a node keeps of a study, decoded and verified: its file, its board, who signed
// its results, how it stands, and in which order a release has its records. It changes nothing but the
// tables of results.
package stored
