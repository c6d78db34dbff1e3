// Package sketch holds the integer sketch: how it is built from batches of
// fixed-point records, how sketches of several parties, or of the shards of one, merge
// (stack, add), how records leave one again (subtract), and how their integers are
// written as bytes.
//
// A sketch of the columns side is R·X, k × n; one of the records side is X·R,
// m × k. Both are exact integers without the real factors of R and of the fixed
// point, which the aggregator applies to its estimates. Package dp adds the noise.
package sketch
