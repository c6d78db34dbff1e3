package sketch

import (
	"slices"

	"github.com/cosketch/cosketch/kernel/cpu"
	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/kernel/projection/kernels"
)

// A worker takes at least leastShare records at a time, so that waking it pays off. It takes at
// most mostShare, so that a worker that is held up does not keep the others waiting for long. It
// takes no more entries than its second-level cache holds, as entries are read twice: checked, then
// added.
const (
	leastShare   = 32
	mostShare    = 1024
	shareEntries = 1 << 16
	sharesEach   = 4 // shares per worker of a batch, between these limits
)

// shared distributes the ranges of 0..m, records of n entries, over workers and waits for them.
// While do runs, no other call has the same worker number.
func shared(m, n, workers int, do func(worker, from, to int)) {
	share := mostShare
	if workers > 1 {
		share = min(max(m/(workers*sharesEach), leastShare), mostShare)
	}
	share = min(share, max(shareEntries/n, 1))
	parallel.Share((m+share-1)/share, workers, func(worker, i int) { do(worker, i*share, min((i+1)*share, m)) })
}

// allWithin reports whether all entries are inside ±largest. beyond returns the index of the first
// entry outside, or -1.
func allWithin(x []int64, largest int64) bool { return kernels.Within(cpu.Best(), x, largest) }

func indexOutside(x []int64, largest int64) int {
	return slices.IndexFunc(x, func(v int64) bool { return v > largest || v < -largest })
}
