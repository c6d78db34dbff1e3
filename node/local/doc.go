// Package local has the operations on a state directory that need no other node of a study: doctor
// and fsck, inspection, rehearsals, held sketches, labels and predictions, and cleanup after a
// study has ended.
package local
