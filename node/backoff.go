package node

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff waits longer after each failure in a row. Jitter keeps parties that lost one aggregator
// from coming back all at once.
type Backoff struct {
	Least, Most, next time.Duration
	Last              error
}

// Reset makes the next wait the shortest again.
func (b *Backoff) Reset() { b.next, b.Last = 0, nil }

// Wait returns false if ctx ended first.
func (b *Backoff) Wait(ctx context.Context, err error) bool {
	b.Last = err
	b.next = min(max(2*b.next, b.Least), b.Most)
	timer := time.NewTimer(b.next/2 + rand.N(b.next/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
