package upload

import (
	"context"
	"errors"
	"sync"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Checks verifies complete releases, one after the other and each once, outside the goroutine that
// owns the study's machine. So only the release's party waits for it. The result for a header holds
// for as long as the study is served. Only the machine's goroutine may call its methods.
type Checks struct {
	uploads Uploads
	known   map[protocol.Digest]error         // by the header's id; nil: acceptable
	under   map[protocol.Digest]chan struct{} // checks in progress; closed when the result was taken
	ended   chan Checked
	one     sync.Mutex // held while a release is read
	running sync.WaitGroup
}

// Checked is the result of a check.
type Checked struct {
	Header session.Header
	Err    error // nil: acceptable; ErrUnacceptable, *DamagedChunk, or an error of the store
}

// NewChecks returns Checks without results.
func NewChecks(u Uploads) *Checks {
	return &Checks{uploads: u, known: map[protocol.Digest]error{}, under: map[protocol.Digest]chan struct{}{}, ended: make(chan Checked)}
}

// Known returns the result for a header's release, if it is known. The release is acceptable if
// refused is nil.
func (c *Checks) Known(header protocol.Digest) (refused error, known bool) {
	refused, known = c.known[header]
	return refused, known
}

// Accept records a release as checked and acceptable.
func (c *Checks) Accept(header protocol.Digest) { c.known[header] = nil }

// UnderWay reports whether a release is being checked.
func (c *Checks) UnderWay() bool { return len(c.under) > 0 }

// Ended returns the channel of results, to be passed to Take.
func (c *Checks) Ended() <-chan Checked { return c.ended }

// Wait waits for the checking goroutines, after the context of Begin has ended.
func (c *Checks) Wait() { c.running.Wait() }

// Begin begins to check a release, unless a check is in progress. The channel is closed once the
// result was taken.
func (c *Checks) Begin(ctx context.Context, header session.Header) <-chan struct{} {
	if under := c.under[header.ID]; under != nil {
		return under
	}
	under := make(chan struct{})
	c.under[header.ID] = under
	c.running.Go(func() {
		err := c.check(ctx, header)
		select {
		case c.ended <- Checked{header, err}:
		case <-ctx.Done():
		}
	})
	return under
}

func (c *Checks) check(ctx context.Context, header session.Header) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = node.Recovered(c.uploads.Log, c.uploads.Study.ID, p)
		}
	}()
	c.one.Lock()
	defer c.one.Unlock()
	return c.uploads.acceptable(ctx, header)
}

// Take records a result. tell wakes those who wait for it.
func (c *Checks) Take(came Checked) (tell func()) {
	under := c.under[came.Header.ID]
	delete(c.under, came.Header.ID)
	if came.Err == nil || errors.Is(came.Err, ErrUnacceptable) {
		c.known[came.Header.ID] = came.Err
	}
	return func() { close(under) }
}
