package aggregator

import (
	"context"
	"fmt"
	"sync"
)

// memoryLimit is memory shared by computations. They are admitted in order.
type memoryLimit struct {
	size int64

	mu      sync.Mutex
	taken   int64     // guarded by mu
	waiting []*waiter // guarded by mu
}

type waiter struct {
	size int64
	in   chan struct{} // closed when it is admitted
}

// take waits until size of the room is free (capped at all of it) or ctx ends. leave gives it back.
func (r *memoryLimit) take(ctx context.Context, size int64) (leave func(), err error) {
	size = min(size, r.size)
	me := &waiter{size, make(chan struct{})}
	r.mu.Lock()
	r.waiting = append(r.waiting, me)
	r.admit()
	r.mu.Unlock()
	select {
	case <-me.in:
	case <-ctx.Done():
		r.mu.Lock()
		defer r.mu.Unlock()
		for i, w := range r.waiting {
			if w == me {
				r.waiting = append(r.waiting[:i], r.waiting[i+1:]...)
				r.admit()
				return nil, fmt.Errorf("waiting for %d MiB of memory: %w", mebibytes(size), ctx.Err())
			}
		}
		r.taken -= size // it was admitted at that moment
		r.admit()
		return nil, fmt.Errorf("waiting for %d MiB of memory: %w", mebibytes(size), ctx.Err())
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.taken -= size
		r.admit()
	}, nil
}

// admit admits those next in line for whom there is room.
func (r *memoryLimit) admit() {
	for len(r.waiting) > 0 && r.taken+r.waiting[0].size <= r.size {
		r.taken += r.waiting[0].size
		close(r.waiting[0].in)
		r.waiting = r.waiting[1:]
	}
}

func mebibytes(n int64) int64 { return (n + 1<<20 - 1) >> 20 }
