// Package source gives a party's data as a study uses them: the site file, the dataset, the
// steward's policy, the budget, and the one loop that reads records. Checks, releases, queries,
// rehearsals and attacks on own data all use it.
package source
