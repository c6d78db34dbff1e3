// Package calls has the calls of a party to its aggregator: their names, bounds, and the party's side.
package calls
