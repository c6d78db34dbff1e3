// Package carry reads and answers bundles, in which a party without a network exchanges with its aggregator
// by hand what others send by calls.
package carry
