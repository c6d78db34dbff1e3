// Package drive runs the machines of package session. It makes what a machine asks for durable
// first, in order, and only then offers it for sending and running. A driver that uses the Party or
// Aggregator of this package cannot send what is not stored.
//
// Transport, Jobs and Store define how messages travel, how jobs are done and where things are
// stored. The caller decides when to call, how long to wait and how to handle errors.
package drive
