// Package decompose takes symmetric matrices apart and repairs estimated ones.
//
// Matrices of covariances or correlations that were estimated entry by entry need
// not be those of any data: with noise, and where entries are about different
// records, some eigenvalue may be negative. [Semidefinite] and [Correlation] give
// the nearest matrix that could be, and say how far it is. What they return is not
// unbiased: it is for methods that cannot do without, such as principal components
// or a regression, not for reading off single entries.
//
// [Symmetric] finds eigenvalues and eigenvectors, in a fixed order and with every product
// rounded before it is added, so that results are the same on every machine.
package decompose
