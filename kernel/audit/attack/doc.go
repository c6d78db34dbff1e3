// Package attack recovers data from sketches, as an attacker would who knows R or some of the
// records. An aggregator with one party's help knows both. It shows a steward, before a release,
// what the release would reveal, compared with guessing.
//
// On the records side a sketch of x is y = xR + η, with R of d × k and noise of a known variance on
// each coordinate. MinimumNorm knows nothing of the data, Ridge their mean and covariance, Pursuit
// that few values are non-zero, Box their bounds. KnownPairs does not know R, but some records with
// their sketches. Components knows neither (independent component analysis, Hyvärinen 1999). Link
// has noisy copies of records from elsewhere. On the columns side, Filter matches a column against
// the row of R of a record's id.
//
// Liu, Kargupta and Ryan 2006 (section VI) say that no element can be found even if R is disclosed,
// and that independent component analysis recovers nothing from fewer dimensions than there are
// sources. Neither is true if something is known of the data: research/docs/errata.md names the
// tests.
package attack
