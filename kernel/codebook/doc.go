// Package codebook chooses the cells of a second round of sums from the moments of the first, and
// evaluates the sums of the second round.
//
// k-means by cells that are chosen blindly has up to a fifth more error than a curator's private
// Lloyd iterations. The noisy moments of a first round tell where the records are: a normal
// distribution with their mean and covariance has a best set of M code points along its first axes,
// and records are summed by the nearest code point. Everybody can compute these from the moments
// and from public random numbers. This is post-processing, and no codebook changes the bound on
// what a record adds in the second round (dp.RecordCodes).
//
// # Making a codebook
//
// K clusters differ along at most K − 1 axes. Their span is nearly that of the first eigenvectors
// of the covariance, provided that clusters contribute enough to it. Of these axes the codebook
// takes those whose eigenvalue stands out of the noise of the moments. K-means reduces 4000 public
// points of the normal distribution along them to the code points. There are so many code points
// that the count of an average cell is five standard deviations of its noise, from 2K to 100.
// Records are cut at 2.5 times the root of their mean squared length.
//
// The final axes, points and radius are integers (sketch.Codebook). All steps before give the same
// result on every machine, but nothing relies on that: Draft.Agrees compares with tolerances.
//
// # Evaluating the second round
//
// The cells are those of package cluster, with code points as their places. The centroid of a cell
// is shrunk towards its code point, which is where it would be if records were normal.
package codebook
