// Package neighbor finds nearest neighbours of points, and outliers: by the distance of their
// neighbours, or by the local outlier factor of Breunig, Kriegel, Ng and Sander (2000).
//
// Neighbours are exact, by distance.Squared in float64. Of two points at equal distance the one
// with the lower index is the nearer. Package distance excludes nearly all points in float32, by a
// proved bound, so the result is the same on every machine and for any number of workers. If
// float32 cannot separate many points, the search is slower.
//
// Time grows with queries × points, memory does not: a search uses Options.Memory, besides the
// result of 12 bytes for each neighbour.
package neighbor
