// Package aggregator drives the operator's node: it hosts studies, answers the calls of their
// parties, imports their bundles, and computes and publishes results. One goroutine owns each
// study.
//
// Each layer uses only those before it:
// - shared (memory, the disk, setbacks, marks of computations), which knows no study;
// - a computer, which computes a result from the store;
// - a hosted study, which has the machine;
// - the studies of a node;
// - a server, which answers calls and bundles;
// - an Aggregator, which serves a network, and a Desk, which serves one command.
package aggregator
