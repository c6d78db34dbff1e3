package sketch

import (
	"slices"

	"github.com/cosketch/cosketch/kernel/cpu"
	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/kernel/projection/kernels"
)

// A worker takes leastShare records or more at a time, so that waking it is worth
// its while, and at most mostShare, so that one that the machine holds up keeps
// the others waiting for little; but no more entries than its second-level cache
// holds, as they are read twice: checked, then added.
const (
	leastShare   = 32
	mostShare    = 1024
	shareEntries = 1 << 16
	sharesEach   = 4 // of a batch that is between the two
)

// shared lets workers take ranges of 0..m, records of n entries, until none is left, and
// waits for them. A worker's number is its own while do runs.
func shared(m, n, workers int, do func(worker, from, to int)) {
	share := mostShare
	if workers > 1 {
		share = min(max(m/(workers*sharesEach), leastShare), mostShare)
	}
	share = min(share, max(shareEntries/n, 1))
	parallel.Share((m+share-1)/share, workers, func(worker, i int) { do(worker, i*share, min((i+1)*share, m)) })
}

// within reports whether all entries are inside ±largest, beyond which is the first
// that is not.
func within(x []int64, largest int64) bool { return kernels.Within(cpu.Best(), x, largest) }

func beyond(x []int64, largest int64) int {
	return slices.IndexFunc(x, func(v int64) bool { return v > largest || v < -largest })
}
