// Package estimate turns sketches into numbers with intervals: inner products,
// norms, distances, cosines, covariances, correlations, the size of an intersection,
// and mean distances of groups of records.
//
// Everything on the columns side comes from one object, [Gram]: the inner
// products of all sketched columns, raw and with the noise taken off its
// diagonal. Everything on the records side comes from [Records], which says how
// one coordinate of a sketched record errs, and from the [Group] of many of them.
// What horizontal parties sum without a projection comes from [Summed].
// Intervals cover the error of the projection and of the noise together, each at
// its [Level]; those that are to hold together take a share of it each
// ([Level.Bonferroni]).
//
// # The general rule
//
// A row of a k × n columns sketch is close to a Gaussian vector with covariance
// H/k, where H is the raw Gram matrix: that of the data plus k·v on the diagonal,
// v being the noise variance of a coordinate. An error that is a quadratic form
// u'Wu summed over the k rows, with W symmetric, has variance
//
//	Var = 2 tr(WHWH)/k + k Σ W_ii² κ_i
//
// where κ_i is the fourth cumulant of column i's noise. W is the gradient of the
// estimate by the entries of the Gram matrix, so all covariances that the shared
// matrix R causes are in it. For families whose rows have norm 1 the rule is
// conservative, by 2 Σf²/k.
//
// Norms and distances are bounded by quantiles of χ² or by their score, products
// and covariances by their score: all values within z deviations of the estimate,
// the deviation being that of the value; so is the size of an intersection. Ratios (cosine,
// correlation) are inverted as Fieller did: ρ0 is in the interval when numerator −
// ρ0·denominator is within z standard deviations of zero, a quadratic in ρ0.
// Without noise and with equal record sets this is Fisher's interval,
// atanh r ± atanh(z/√(k−z²)); with noise it stays
// honest where a plain delta method treats the denominator as known.
//
// # All columns together
//
// [Moments] is the matrix of covariances, correlations or products of many columns.
// What is read off it, an eigenvalue or a coefficient, has a gradient of few vectors:
// uᵀ dM v, with the vector of an eigenvalue for u and v, or a row of the inverse and
// the residual. So the general rule needs products of H with those vectors alone,
// and no matrix W of all columns. First-order errors say nothing where eigenvalues
// meet or a matrix is singular within its error; [Separated] and [Identified] are
// the bars, and what simulations say of them.
//
// Between parties with different records, blocks of the matrix are over different
// records. If these are shared at random, blocks differ by the luck of the draw,
// with the covariances of means over overlapping sets; that variance is added.
//
// # Noise before the projection
//
// Randomised response noises the values, and the projection mixes that noise with them.
// Where n values of variance v0 each were noised, a coordinate has the noise variance
// v = n·v0/k, which comes off a diagonal as k·v like any other. The first term above then
// is the error of the projection of the noised values. The products of the noised values
// themselves also differ from those of the true ones, by
//
//	4 v0 tr(WGW) + 2 n v0² tr(WW) + n Σ W_ii² κ0  =  2 (tr(WHWH) − tr(WGWG))/n + k Σ W_ii² κ_i
//
// where G is the debiased Gram matrix and κ_i = n·κ0/k. [Noise.Sources] is n. For columns
// of parties with different records the least n counts, which errs to the wide side.
// Left out is that a bit's noise is skewed away from the bit: it makes squared distances
// and norms err less than this says.
//
// # Units
//
// Sketches arrive as real numbers: the released integers times the family's scale
// (1/√S or 1/√K) and 2^-f. Noise variances are per coordinate in the same units.
// Estimates are in the units of the columns that were sketched; a [Combination]
// of columns, with the column of ones for the offset, gives original units.
//
// # Clipping
//
// Where records were clipped to an l2 bound before projection, the sketch is of
// the clipped data: the value and square entries of a clipped record shrink
// together, and its entry of ones stays. Estimates and intervals are then about the clipped data, but for
// numbers of records, which clipping leaves alone.
//
// # Counts
//
// Tables of noisy counts ([Counted]) and numbers of records below edges ([Ranked]) have neither a projection nor a clip: their
// intervals are of the records that were counted, and cover the noise and, of quantiles, the width of bins. A count of C
// cells that add up to a public number N gets (N − their sum)/C, and has the variance v(1 − 1/C) then. A share of a
// row or a column is inverted as ratios are, with covariances −v/C of cells. In a tree a bin has the better of its own count and those of its
// halves, each by its variance, from the finest bins up, and halves of it the whole and half of their difference, from the
// top down: differences are independent of each other, so the variance of any number of bins is a sum over them. A quantile q of n records is in
// a bin from e_i to e_(i+1) where F(e_i) − z s_i ≤ qn ≤ F(e_(i+1)) + z s_(i+1), F being the records below, and its interval is
// of all such bins; for people like these q(1−q)n adds to s². Laplace noise has its own quantile in the place of z
// ([CountNoise.Reach]), and half a record more, as it is in whole numbers.
package estimate
