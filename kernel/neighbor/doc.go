// Package neighbor finds the nearest neighbours of points, and outliers, by the distance
// of their neighbours or by the local outlier factor of Breunig, Kriegel, Ng and Sander
// (2000).
//
// Neighbours are exact, by distance.Squared in float64; of two points at equal distance
// the one with the lower index is the nearer. Package distance rules out nearly all points
// in float32, by a proved bound, so the answer is the same on every machine and for every
// number of workers. If float32 cannot separate many points, the search is slower.
//
// Time grows with queries × points, memory does not: besides the result, which is 12
// bytes for each neighbour, a search holds what Options.Memory allows.
package neighbor
