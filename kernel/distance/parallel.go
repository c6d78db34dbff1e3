package distance

import (
	"sync"
	"sync/atomic"
)

// Stretch is how many points make a piece of work. It does not depend on the number
// of workers, so that sums of pieces, added up in order, do not either.
const Stretch = 4096

// Parallel lets workers take pieces 0..pieces until none is left, and waits for them.
// A worker's number is its own while do runs.
func Parallel(pieces, workers int, do func(worker, piece int)) {
	workers = min(workers, pieces)
	var taken atomic.Int64
	work := func(worker int) {
		for piece := int(taken.Add(1)) - 1; piece < pieces; piece = int(taken.Add(1)) - 1 {
			do(worker, piece)
		}
	}
	if workers <= 1 {
		work(0)
		return
	}
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() { work(w) })
	}
	wait.Wait()
}
