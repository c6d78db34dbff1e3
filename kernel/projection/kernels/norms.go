package kernels

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/cpu"
)

// SquaredNorms sets norms[i] to the sum of squares of row i of x, which has len(norms) rows of
// equal length. It reports false, and leaves norms undefined, if a sum might overflow: if a row has
// 2^12 entries or more, or an entry lies outside −2^26 ≤ x < 2^26.
func SquaredNorms(l cpu.Level, norms []uint64, x []int64) bool {
	m := len(norms)
	if m == 0 && len(x) > 0 || m > 0 && len(x)%m != 0 {
		panic(fmt.Sprintf("kernels: norms of %d rows of %d entries in all", m, len(x)))
	}
	if len(x) == 0 {
		clear(norms)
		return true
	}
	n := len(x) / m
	if n >= 1<<12 {
		return false
	}
	if l != cpu.Go {
		return squaredNormsAVX2(&norms[0], &x[0], n, m)
	}
	var all uint64 // all bits set in any entry plus most; below twice most if every entry is in range
	for i := range norms {
		norms[i] = 0
		for _, v := range x[i*n:][:n] {
			all |= uint64(v + mostSquared)
			norms[i] += uint64(v * v)
		}
	}
	return all < 2*mostSquared
}

// mostSquared bounds the entries that may be squared and summed.
const mostSquared = 1 << 26
