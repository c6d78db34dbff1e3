// Package parallel divides work among goroutines. All goroutines below node start here, so that
// each has a caller that waits for it, and no panic in one ends the process.
package parallel

import (
	"context"
	"runtime"
	"sync/atomic"
)

// For calls do for 0 to n−1 on all processors, as Share does.
func For(n int, do func(i int)) {
	Share(n, runtime.GOMAXPROCS(0), func(_, i int) { do(i) })
}

// Share lets workers take pieces 0 to pieces−1 in turn until none is left, and waits for them. No
// two calls of do run at once with the same worker number, which is below workers. Fewer than 1
// worker count as 1; a single worker runs on the caller's goroutine. If do panics, no further piece
// is taken, and Share panics with a *Panic when the running ones are done.
func Share(pieces, workers int, do func(worker, piece int)) {
	ShareUntil(context.Background(), pieces, workers, do)
}

// ShareUntil is Share that takes no further piece once ctx has ended. It returns ctx.Err().
func ShareUntil(ctx context.Context, pieces, workers int, do func(worker, piece int)) error {
	var taken atomic.Int64
	work := func(worker int) {
		for ctx.Err() == nil {
			piece := taken.Add(1) - 1
			if piece >= int64(pieces) { // of 64 bits: it runs past the largest int of 32
				return
			}
			do(worker, int(piece))
		}
	}
	if workers = min(workers, pieces); workers <= 1 {
		carrying(func() { work(0) })
		return ctx.Err()
	}
	// The caller waits rather than works: the goroutine that it started last takes its place at
	// once, and an idle processor can take only the others without delay.
	g := NewGroup(func() { taken.Store(int64(pieces)) })
	for w := range workers {
		g.Go(func() { work(w) })
	}
	g.Wait()
	return ctx.Err()
}
