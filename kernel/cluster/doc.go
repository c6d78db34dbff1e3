// Package cluster groups points: k-means, the number of clusters, the effect of noise on the
// inertia, hierarchies, and the agreement of two groupings.
//
// # Inertia under noise
//
// Let yᵢ = sᵢ + eᵢ be n points of k coordinates, eᵢ being noise of known variance v in each, and
// ȳ_c the mean of the n_c points with label c. The inertia W of the points is
//
//	W = Σ|yᵢ|² − Σ n_c|ȳ_c|²,
//
// and T is that of the points without their noise, s. Writing ē_c for the mean noise of a cluster,
//
//	E(W − T) = nkv − E Σ n_c (2 s̄_c·ē_c + |ē_c|²).
//
// If labels do not depend on the noise, ē_c has mean zero and variance kv/n_c, so E(W − T) = (n −
// C)kv with C clusters that have points: kv for each point, less kv for each centroid, which
// follows the noise of its own points.
//
// But labels do depend on the noise: of two centroids, k-means takes the one to which the noise
// happens to point. Then ē_c has a mean, δ_c, and W is less by the optimism
//
//	O = Σ n_c (2 s̄_c·δ_c + |δ_c|²) = Σ n_c (2 ȳ_c·δ_c − |δ_c|²),
//
// so T is estimated by W − (n − C)kv + O. Stein's identity gives δ_c, E e·f(y) = v E ∇f(y) for
// normal noise: the gradient of "y has label c" is on the faces where two cells meet, and points
// into the cell of c:
//
//	n_c δ_c = v Σ_b ∫ (density of all points on the face of c and b) (ȳ_c − ȳ_b)/|ȳ_c − ȳ_b|.
//
// The density on a face is that of the points within √v/4 of it, on both sides. It varies over no
// less than √v, as it includes the noise. If all s are equal, noise alone splits two clusters,
// and O = (2/π)nv is just what W − (n − C)kv lacks. Faces depend on the noise too, the more so if
// few points hold them in place, which adds about 15 k/n of O. That is added, and half of it and
// 0.15 O count as its standard error. Noise that is not normal is nearly so along the line between
// two centroids, where it is a sum over coordinates.
//
// # Number of clusters
//
// Suggest compares numbers of clusters by the index of Calinski and Harabasz (1974),
//
//	CH(C) = (B/(C−1)) / (T/(n−C)),
//
// on the sums without noise: T as above, and B the inertia of one cluster, without noise, less T.
// The raw index is dominated by kv, which is in W for every number of clusters. If noise is large
// compared with T, T may come out near zero by chance, for all numbers from the true one on. So the
// upper end of its interval is used, which that chance does not move, and the factor C−1 favours
// the fewest clusters. Nothing is suggested if no B stands out of its error. The index compares
// groupings with each other, so it never suggests a single cluster.
package cluster
