// Package distance compares many points with many others fast. It computes squared Euclidean
// distances in float32, a tile of them at a time, with a proved bound on their difference from
// [Squared], which computes in float64. To find the nearest points, exclude nearly all by tiles and
// compute Squared of the rest. Neighbours and clusters then do not depend on the precision of
// float32.
//
// # Tiles
//
// One side of a comparison comes as rows, in groups of [Rows], the other as lanes, in panels of
// [Lanes]. A [Frame] writes both: float32 coordinates about a common centre, scaled by a power of
// two. Every point has one more coordinate, so that the score of a row and a lane is an inner
// product:
//
//	row (−2q, 1)    lane (p, |p|²)    score −2q·p + |p|² = |q − p|² − |q|²
//
// or the other way around. [Below] finds the lanes of a panel whose score is at most a limit of
// each row, [Least] finds the least row of each lane.
//
// The loops are in Go, and in assembly for amd64, at the levels of package kernel/cpu. A score is
// summed in the order of coordinates, each product rounded before it is added. So every level and
// every machine gives the same bits; a fuzz test checks this. (On processors with one unit for
// multiplication and addition, fused steps would be faster, but their bits differ. On those with
// separate units, such as AMD's, they would not be.)
//
// # The bound
//
// Let u = 2^-24, d the number of coordinates, q̂ and p̂ the float32 coordinates of two points, and
// q' and p' the exact ones, scaled and centred.
//
// Rounding: |q̂ − q'| ≤ u|q'|(1+u), and so for p. So |q̂ − p̂|² and |q' − p'|² differ by at most
// 2.1u(|q̂|+|p̂|)² ≤ 4.2u(|q̂|²+|p̂|²). The relative difference of Squared from |q' − p'|² in
// original units is (d+3)2^-53, which is far less.
//
// Summing d+1 products one by one has an error of at most γ(2Σ|q̂ⱼp̂ⱼ| + |p̂|²) with γ =
// (d+2)u/(1−(d+2)u) (Higham 2002, section 3.1, a product and all additions), which is at most
// γ(|q̂|² + 2|p̂|²).
//
// So a score is within g(|q̂|² + |p̂|²) of |q' − p'|² − |q̂|² with
//
//	g = (2.5d + 16)u,
//
// for d up to [MaxDimension], where (d+2)u is at most 0.13. Underflow of float32 adds at most
// 2^-140 for each coordinate, which is added too.
package distance
