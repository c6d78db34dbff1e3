// Package decompose takes symmetric matrices apart and repairs estimated ones.
//
// A covariance or correlation matrix that was estimated entry by entry may have
// negative eigenvalues, because of noise or because entries are about different
// records. [Semidefinite] and [Correlation] give the nearest matrix without, and say
// how far it is. It is biased: use it for methods that need it, such as principal
// components or a regression, not for single entries.
//
// [Symmetric] finds eigenvalues and eigenvectors, in a fixed order and with every product
// rounded before it is added, so that results are the same on every machine.
package decompose
