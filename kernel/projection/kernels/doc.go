// Package kernels has the inner loops of the projection, on integers: each in Go,
// and in assembly for amd64 with AVX2 and with AVX-512.
//
// Each takes the level at which it runs, one of package cpu. Results do not depend on
// the level: sums are exact, so there is one right answer, and a fuzz test holds every
// level to it.
//
// Functions panic on slices whose lengths do not fit, before any assembly runs;
// the assembly itself checks nothing.
package kernels
