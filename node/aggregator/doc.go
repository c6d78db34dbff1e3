// Package aggregator drives the operator's node: it hosts studies, answers the calls of their parties,
// takes their bundles, and computes and publishes results. One goroutine owns each study.
//
// Its parts use those before them alone. What all studies share (shared: memory, the disk, setbacks, marks of
// computations) knows no study. A computer computes a result from the store. A hosted study has the machine, and turns
// let others work on it. The studies of a node are found and taken up. A server answers calls and bundles about them,
// and an Aggregator serves it to a network, a Desk to one command.
package aggregator
