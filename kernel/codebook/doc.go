// Package codebook draws up the cells of a second round of sums in the light of the first, and
// reads what the second round tells.
//
// k-means by cells that are chosen blindly errs up to a fifth more than a curator's private Lloyd
// iterations would. The noisy moments of a first round tell where records are: a normal
// distribution of their mean and covariance has a best set of M code points along its first
// axes, and records are summed by the nearest of them. Everybody can work that out from the
// moments and from public random numbers. It is post-processing, and what a record adds in the second
// round has a bound that no codebook changes (dp.RecordCodes).
//
// # Drawing it up
//
// K clusters differ along K − 1 axes at most; their span is nearly that of the first eigenvectors of the
// covariance, as long as clusters matter to it. Of these axes those are taken whose eigenvalue
// stands out of the noise of the moments. 4000 public points of the normal distribution along
// them, reduced by k-means, are the code points: as many as leave an average cell five deviations
// of the noise on its count, from 2K to 100. Records are cut at 2.5 times the root of their mean
// squared length.
//
// The axes, points and radius are integers in the end (sketch.Codebook). All steps before are the
// same on every machine, but nobody relies on that: Draft.Agrees compares with tolerances.
//
// # Reading it
//
// Cells are those of package cluster, with code points for their places. A centroid of a cell is
// drawn to its code point, which is where it would be if records were normal.
package codebook
