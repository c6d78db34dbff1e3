// Package node holds what the drivers of both roles share: the interface of a store, errors with
// their remedies, the comparison of clocks, and recovery from panics and failures. Packages party
// and aggregator drive the machines of package protocol/session. They, audit, local and views use
// source, stored, calls and event.
package node
