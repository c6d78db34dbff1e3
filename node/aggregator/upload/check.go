package upload

import (
	"context"
	"errors"
	"sync"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Checks reads releases that are wholly here through, one after the other and each once, beside the goroutine that
// owns the study's machine: so nobody waits for that but the release's party. What came of it holds for a header for
// as long as the study is served. That goroutine alone may call its methods.
type Checks struct {
	uploads Uploads
	known   map[protocol.Digest]error         // by the id of the header; nil: acceptable
	under   map[protocol.Digest]chan struct{} // is being checked; closed when what came of it is known
	ended   chan Checked
	one     sync.Mutex // held while a release is read
	running sync.WaitGroup
}

// Checked is what came of a check.
type Checked struct {
	Header session.Header
	Err    error // nil: acceptable; ErrUnacceptable, *DamagedChunk, or what the store failed at
}

// NewChecks has checked nothing yet.
func NewChecks(u Uploads) *Checks {
	return &Checks{uploads: u, known: map[protocol.Digest]error{}, under: map[protocol.Digest]chan struct{}{}, ended: make(chan Checked)}
}

// Known returns what is known of the release of a header: it is acceptable where refused is nil.
func (c *Checks) Known(header protocol.Digest) (refused error, known bool) {
	refused, known = c.known[header]
	return refused, known
}

// Accept takes a release for checked and acceptable.
func (c *Checks) Accept(header protocol.Digest) { c.known[header] = nil }

// UnderWay reports whether a release is being checked.
func (c *Checks) UnderWay() bool { return len(c.under) > 0 }

// Ended gives what came of each check, for Take.
func (c *Checks) Ended() <-chan Checked { return c.ended }

// Wait waits for the goroutines that check, after the context of Begin has ended.
func (c *Checks) Wait() { c.running.Wait() }

// Begin begins to check a release, unless that is under way. The channel is closed when what came of it was taken.
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

// Take takes what came of a check in. Tell lets those go on who wait for it.
func (c *Checks) Take(came Checked) (tell func()) {
	under := c.under[came.Header.ID]
	delete(c.under, came.Header.ID)
	if came.Err == nil || errors.Is(came.Err, ErrUnacceptable) {
		c.known[came.Header.ID] = came.Err
	}
	return func() { close(under) }
}
