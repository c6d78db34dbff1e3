// Package seed holds the 32 bytes that only a study's parties know, and derives by
// label every key that is made of them.
//
// The guarantee of a release never rests on the seed: noise is calibrated as if
// the projection matrix were public. Secrecy of the seed is defence in depth.
// Noise is never drawn from it: package kernel/dp takes its own entropy and
// cannot import this one.
//
// Package agree makes a seed, package stream makes rows' bits of a derived key.
package seed
