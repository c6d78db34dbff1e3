// Package attack recovers data from sketches as somebody would who knows R, or some of the
// records: an aggregator with one party's help knows both. It is how a steward sees, before
// a release leaves, what it would give away, beside what guessing gives.
//
// On the records side a sketch of x is y = xR + η, with R of d × k and noise of a known
// variance on each coordinate. MinimumNorm knows nothing of the data, Ridge their mean and
// covariance, Pursuit that few values are not zero, Box their bounds. KnownPairs does not
// know R but some records with their sketches, Components neither (independent component
// analysis, Hyvärinen 1999), and Link has noisy copies of records from elsewhere. On the
// columns side Filter matches a column against the row of R of a record's id.
//
// Liu, Kargupta and Ryan 2006 (section VI) say that no element can be found even if R is
// disclosed, and that independent component analysis recovers nothing from fewer
// dimensions than there are sources. Neither holds where something is known of the data:
// research/docs/errata.md names the tests.
package attack
