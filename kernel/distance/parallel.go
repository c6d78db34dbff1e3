package distance

import (
	"sync/atomic"

	"github.com/cosketch/cosketch/kernel/parallel"
)

// Stretch is how many points make a piece of work. It does not depend on the number
// of workers, so that sums of pieces, added up in order, do not either.
const Stretch = 4096

// Parallel lets workers take pieces 0..pieces until none is left, and waits for them.
// A worker's number is its own while do runs. A panic of do is one of Parallel.
func Parallel(pieces, workers int, do func(worker, piece int)) {
	workers = min(workers, pieces)
	var taken atomic.Int64
	work := func(worker int) {
		for piece := int(taken.Add(1)) - 1; piece < pieces; piece = int(taken.Add(1)) - 1 {
			do(worker, piece)
		}
	}
	parallel.For(max(workers, 1), work)
}
