// Package local is what operators and stewards do with a state directory without speaking to a study's
// other nodes: doctor and fsck, inspection, rehearsals, held sketches, labels and predictions, and what
// is removed when a study has ended.
package local
