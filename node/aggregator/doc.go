// Package aggregator drives the operator's node: it hosts studies, answers the calls of their parties,
// takes their bundles, and computes and publishes results. One goroutine owns each study.
package aggregator
