package node

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff waits longer after each failure in a row, with jitter so that parties
// that lost one aggregator do not come back all at once.
type backoff struct {
	least, most, next time.Duration
	last              error
}

func (b *backoff) reset() { b.next, b.last = 0, nil }

// wait returns false when ctx ended first.
func (b *backoff) wait(ctx context.Context, err error) bool {
	b.last = err
	b.next = min(max(2*b.next, b.least), b.most)
	timer := time.NewTimer(b.next/2 + rand.N(b.next/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
