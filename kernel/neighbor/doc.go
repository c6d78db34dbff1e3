// Package neighbor finds the nearest neighbours of points, and the points that have
// none near: outliers by the distance of their neighbours and by the local outlier
// factor of Breunig, Kriegel, Ng and Sander (2000).
//
// Neighbours are exact. The distance that counts is distance.Squared, in float64 and
// in a fixed order; of two points at equal distance the one with the lower index is
// the nearer. Package distance rules out nearly all points in float32, by a bound that
// holds for every pair, and computes Squared of the rest, so the answer is the same
// on every machine and for every number of workers. Where float32 cannot tell points
// apart, as of many that lie at the same distance, more are computed in float64, which
// is slower and changes nothing.
//
// Time grows with queries × points, memory does not: besides the result, which is 12
// bytes for each neighbour, a search holds what Options.Memory allows.
package neighbor
