// Package seed has the 32 bytes that only a study's parties know, and derives all keys from them by
// label.
//
// The guarantee of a release never depends on the seed: noise is calibrated as if the projection
// matrix were public. Secrecy of the seed is defence in depth. Noise is never drawn from it:
// package kernel/dp takes its own entropy and cannot import this package.
//
// Package agree creates a seed; package stream expands a derived key to the bits of rows.
package seed
