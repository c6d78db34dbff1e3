// Package sketch implements the integer sketch. It builds sketches from batches of fixed-point
// records and merges sketches of several parties, or of the shards of one party (stack, add). It
// removes records from a sketch (subtract), and encodes sketches as bytes.
//
// A sketch of the columns side is R·X, k × n; one of the records side is X·R, m × k. Both are exact
// integers, without the real factors of R and of the fixed point. The aggregator applies these to
// its estimates. Package dp adds the noise.
package sketch
