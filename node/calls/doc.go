// Package calls defines a party's calls to its aggregator: their names, their limits, and the
// party's client.
package calls
