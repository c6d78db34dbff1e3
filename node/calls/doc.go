// Package calls names the calls of a party to its aggregator, bounds their frames, and is the party's side
// of them.
package calls
