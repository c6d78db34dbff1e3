// Package node is what the drivers of both roles share: what they need of a store, their errors and the
// remedies of these, how clocks are compared, how panics and failures are survived. Packages party and
// aggregator drive the machines of package protocol/session; audit, local and views are beside them, and
// all stand on source, stored, calls and event.
package node
