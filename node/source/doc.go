// Package source is a party's data as a study sees them: the site file, the dataset, the steward's policy and
// the budget, and the one loop that reads records. A check, a release, a query, a rehearsal and an attack on
// own data all read by it.
package source
