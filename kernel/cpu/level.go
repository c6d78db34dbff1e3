// Package cpu names the levels of vector instructions for which inner loops are written, and
// reports which of them this machine has.
//
// A loop exists in Go, and in assembly for amd64 with AVX2 and with AVX-512. Its results do not
// depend on the level: each package of loops tests that every level gives the same bits. With the
// build tag purego, or on any architecture but amd64, only the Go level exists.
package cpu

// Level is one implementation of the loops.
type Level int

// The levels, each faster than the one before. AVX512 needs the subsets F, BW and VNNI of AVX-512.
const (
	Go Level = iota
	AVX2
	AVX512
)

// String names the level.
func (l Level) String() string {
	switch l {
	case AVX512:
		return "avx512"
	case AVX2:
		return "avx2"
	}
	return "go"
}

// Levels returns the levels that this build has on this machine, Go first.
func Levels() []Level {
	levels := []Level{Go}
	for l := AVX2; l <= Best(); l++ {
		levels = append(levels, l)
	}
	return levels
}
