package sketch

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cosketch/cosketch/kernel/cpu"
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

// parallel lets workers take ranges of 0..m, records of n entries, until none is
// left, and waits for them. A worker's number is its own while do runs.
func parallel(m, n, workers int, do func(worker, from, to int)) {
	share := mostShare
	if workers > 1 {
		share = min(max(m/(workers*sharesEach), leastShare), mostShare)
	}
	share = min(share, max(shareEntries/n, 1))
	var taken atomic.Int64
	work := func(worker int) {
		for {
			to := int(taken.Add(int64(share)))
			if to-share >= m {
				return
			}
			do(worker, to-share, min(to, m))
		}
	}
	workers = min(workers, (m+share-1)/share)
	if workers <= 1 {
		work(0)
		return
	}
	// The caller waits rather than works: the goroutine that it started last takes
	// its place at once, and only the others can be taken by an idle processor
	// without delay.
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() { work(w) })
	}
	wait.Wait()
}

// within reports whether all entries are inside ±largest, beyond which is the first
// that is not.
func within(x []int64, largest int64) bool { return kernels.Within(cpu.Best(), x, largest) }

func beyond(x []int64, largest int64) int {
	return slices.IndexFunc(x, func(v int64) bool { return v > largest || v < -largest })
}
