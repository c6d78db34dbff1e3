// Package kernels has the inner loops of the projection, on integers: each in Go, and in assembly
// for amd64 with AVX2 and with AVX-512.
//
// Each function takes the level at which it runs, one of package cpu. Sums are exact, so results do
// not depend on the level. A fuzz test checks this for every level.
//
// Functions panic if the lengths of slices do not fit, before any assembly runs; the assembly
// itself checks nothing.
package kernels
