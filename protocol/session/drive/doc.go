// Package drive is the one loop around the machines of package session. What a machine asks for is made
// durable first, in its order; only then is it offered to be sent and run. A driver that goes through a
// Party or an Aggregator of this package cannot send what is not stored.
//
// How messages travel, how jobs are done and where things are stored are the business of a Transport, of
// Jobs and of a Store. When to call, how long to wait and what to do about errors is the caller's.
package drive
