// Package decompose computes eigenvalues and eigenvectors of symmetric matrices, and repairs
// estimated ones.
//
// A covariance or correlation matrix that was estimated entry by entry may have negative
// eigenvalues, because of noise or because entries are over different records. [Semidefinite] and
// [Correlation] give the nearest matrix without, and its distance. It is biased: use it for methods
// that need it, such as principal components or a regression, not for single entries.
//
// [Symmetric] computes in a fixed order, with every product rounded before it is added, so that
// results are the same on every machine.
package decompose
