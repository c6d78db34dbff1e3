// Package cluster groups points: k-means, how many clusters there are, what noise does
// to the sums, hierarchies, and how well two groupings agree.
//
// # Inertia under noise
//
// Let yᵢ = sᵢ + eᵢ be n points of k coordinates, eᵢ being noise of known variance v in
// each, and ȳ_c the mean of the n_c points with label c. The inertia W of the points is
//
//	W = Σ|yᵢ|² − Σ n_c|ȳ_c|²,
//
// that of the points without their noise, T, the same of s. Writing ē_c for the mean
// noise of a cluster,
//
//	E(W − T) = nkv − E Σ n_c (2 s̄_c·ē_c + |ē_c|²).
//
// If labels do not depend on the noise, ē_c is of mean zero and variance kv/n_c, so
// E(W − T) = (n − C)kv with C clusters that have points: kv for each point, less kv for
// each centroid, which follows the noise of its own points.
//
// But labels do follow the noise: k-means takes that of two centroids to which the
// noise happens to point. Then ē_c has a mean, δ_c, and W is less by the optimism
//
//	O = Σ n_c (2 s̄_c·δ_c + |δ_c|²) = Σ n_c (2 ȳ_c·δ_c − |δ_c|²),
//
// so T is estimated by W − (n − C)kv + O. δ_c is found by Stein's identity, E e·f(y) = v
// E ∇f(y) for normal noise: the gradient of "y has label c" lives where two cells meet,
// and points into the cell of c:
//
//	n_c δ_c = v Σ_b ∫ (density of all points on the face of c and b) (ȳ_c − ȳ_b)/|ȳ_c − ȳ_b|.
//
// The density on a face is that of the points that lie within √v/4 of it, on both
// sides; it varies over no less than √v, the noise being in it. Where all points are
// alike, n_c of two clusters are split by noise alone, and O = (2/π)nv is just what
// W − (n − C)kv lacks. Faces follow the noise too, and more so where little holds them in
// place, which takes about 15 k/n of O more; that is added, and half of it and 0.15 O
// count as its standard error. Noise that is not normal is nearly so along the line between two
// centroids, where it is a sum over coordinates.
//
// # How many clusters
//
// Suggest compares numbers of clusters by the index of Calinski and Harabasz (1974),
//
//	CH(C) = (B/(C−1)) / (T/(n−C)),
//
// on the sums without noise: T as above, B the same of the total, less T. The raw index
// is driven by kv, which is in W for every number of clusters and drowns the
// rest. Where noise is large beside what is left in T, T may come out near zero by
// chance, and for all numbers from the true one on: so its upper end is taken, which
// that chance does not move, and the factor C−1 decides for the fewest. Nothing is
// suggested where no B stands out of its error. The index compares groupings with each
// other, so it never suggests a single cluster.
package cluster
