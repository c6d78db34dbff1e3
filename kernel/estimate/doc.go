// Package estimate turns sketches into numbers with intervals: inner products, norms, distances,
// cosines, covariances, correlations, the size of an intersection, and mean distances of groups of
// records.
//
// Estimates on columns come from one object, [Gram]: the inner products of all sketched columns,
// raw and with the noise subtracted from the diagonal. Estimates on records come from [Records],
// which describes the error of one coordinate of a sketched record, and from a [Group] of many
// records. Horizontal parties' sums, which use no projection, are a [Summed]. Intervals cover the
// error of the projection and of the noise together, each at its [Level]. Intervals that must hold
// simultaneously use [Level.Bonferroni].
//
// # The general rule
//
// A row of a k × n columns sketch is close to a Gaussian vector with covariance H/k. H is the raw
// Gram matrix: that of the data plus k·v on the diagonal, v being the noise variance of a
// coordinate. An error that is a quadratic form u'Wu summed over the k rows, with W symmetric, has
// variance
//
//	Var = 2 tr(WHWH)/k + k Σ W_ii² κ_i
//
// where κ_i is the fourth cumulant of column i's noise. W is the gradient of the estimate by the
// entries of the Gram matrix, so it accounts for all covariances caused by the shared matrix R. For
// families whose rows have norm 1 the rule is conservative, by 2 Σf²/k.
//
// Norms and distances are bounded by quantiles of χ² or by the score interval; products,
// covariances and the size of an intersection by the score interval. The score interval holds all
// values within z standard errors of the estimate, the standard error being that at the value.
// Ratios (cosine, correlation) use Fieller's interval: it contains ρ0 if numerator − ρ0·denominator
// is within z standard errors of zero, a quadratic in ρ0. Without noise and with equal record sets
// this is Fisher's interval, atanh r ± atanh(z/√(k−z²)). With noise it keeps its coverage, where a
// plain delta method treats the denominator as known.
//
// # All columns together
//
// [Moments] is the matrix of covariances, correlations or products of many columns. A number
// computed from it, such as an eigenvalue or a coefficient, has a gradient of few vectors: uᵀ dM v,
// where u and v are an eigenvector, or a row of the inverse and the residual. So the general rule
// needs only products of H with those vectors, and no matrix W of all columns. First-order errors
// say nothing where eigenvalues coincide or a matrix is singular within its error. [MinSeparationZ] and
// [MinConditionZ] are the thresholds; their documentation gives the simulation results.
//
// Between parties with different records, blocks of the matrix are over different records. If the
// shared records are a random subset, blocks differ by sampling error, with the covariances of
// means over overlapping sets. That variance is added.
//
// # Noise before the projection
//
// Randomised response adds noise to the values, and the projection mixes that noise with them.
// Where n values got noise of variance v0 each, a coordinate has the noise variance v = n·v0/k,
// which is subtracted from a diagonal as k·v like any other. The first term above is then the error
// of the projection of the noised values. The products of the noised values themselves also differ
// from those of the true ones, by
//
//	4 v0 tr(WGW) + 2 n v0² tr(WW) + n Σ W_ii² κ0  =  2 (tr(WHWH) − tr(WGWG))/n + k Σ W_ii² κ_i
//
// where G is the debiased Gram matrix and κ_i = n·κ0/k. [Noise.Sources] is n. For columns of
// parties with different records the least n is used, which is conservative. One effect is left
// out: a bit's noise is skewed away from the bit, so squared distances and norms have smaller
// errors than this says.
//
// # Units
//
// Sketches arrive as real numbers: the released integers times the family's scale (1/√S or 1/√K)
// and 2^-f. Noise variances are per coordinate in the same units. Estimates are in the units of the
// columns that were sketched. A [Combination] of columns, with the column of ones for the offset,
// gives original units.
//
// # Clipping
//
// Where records were clipped to an l2 bound before projection, the sketch is of the clipped data:
// the value and square entries of a clipped record shrink together, and its entry of ones stays.
// Estimates and intervals then describe the clipped data. Only the numbers of records are
// unaffected.
//
// # Counts
//
// Tables of noisy counts ([Counted]) and numbers of records below edges ([Ranked]) involve neither
// a projection nor clipping. Their intervals describe the counted records, and cover the noise and,
// for quantiles, the width of bins.
//
// A count of C cells that sum to a public number N has (N − their sum)/C added, and then has the
// variance v(1 − 1/C). A share of a row or a column uses Fieller's interval, with covariances −v/C
// of cells.
//
// In a tree, from the finest bins up, a bin's count combines its own count with the sum of its
// halves, weighted by their variances. From the top down, each half is half of the whole plus or
// minus half of the halves' difference. Differences are independent of each other, so the variance
// of any number of bins is a sum over them.
//
// A quantile q of n records is in a bin from e_i to e_(i+1) where F(e_i) − z s_i ≤ qn ≤ F(e_(i+1))
// + z s_(i+1), F being the number of records below. Its interval is the union of all such bins. For
// the population, q(1−q)n is added to s². Laplace noise uses its own quantile in place of z
// ([CountNoise.Reach]), and half a record more, as it is rounded to whole numbers.
package estimate
