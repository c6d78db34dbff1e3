package aggregator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator/inbox"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// Aggregator is the operator's node: it hosts the boards of its studies, receives the parties'
// releases and computes the results.
type Aggregator struct {
	*server
	host *p2p.Host
}

// New starts an aggregator. It knows the stored studies before it listens, so none of their parties
// is refused; Serve takes them up.
func New(o Options) (*Aggregator, error) {
	common, err := newShared(o)
	if err != nil {
		return nil, err
	}
	a := &Aggregator{server: newServer(common)}
	if _, err := a.list(); err != nil {
		return nil, fmt.Errorf("starting aggregator: %w", err)
	}
	if err := a.guests.look(); err != nil {
		return nil, fmt.Errorf("starting aggregator: %w", err)
	}
	handlers := map[string]p2p.Handler{
		calls.Post: a.post, calls.Read: a.read, calls.Chunk: a.chunk, calls.Progress: a.progress, calls.Document: a.document,
		calls.Hello: a.hello, calls.Ledger: a.ledger, calls.Further: a.further, calls.Studies: a.offer, calls.Query: a.query,
		calls.Introduce: a.introduce,
	}
	for name, handle := range handlers {
		handlers[name] = a.observed(name, handle)
	}
	a.host, err = p2p.New(p2p.Config{
		Key: o.Store.Identity, Listen: o.Listen, Allow: a.allow, Guests: a.guests.invited, GuestCall: calls.Introduce, Handlers: handlers,
		Limits: calls.WithFrames(o.Limits), Version: a.Version, Logger: a.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("starting aggregator: %w", err)
	}
	return a, nil
}

func (a *Aggregator) Addrs() []string { return a.host.Addrs() }

// Serve hosts the stored studies, including those added while it runs, until ctx ends. It returns
// when everything it started has ended.
func (a *Aggregator) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	defer a.refusals.Close()
	defer a.host.Close() // handlers first, then the studies they call
	ticker := time.NewTicker(a.Tick)
	defer ticker.Stop()
	said, sweep := "", protocol.Instant(0)
	kinds := inbox.Kinds{bundleSuffix: a.takeFile, cancelSuffix: a.takeCancellation}
	listed := sync.OnceFunc(func() { close(a.listed) })
	defer listed()
	a.mu.Lock()
	a.start = func(h *hosted) {
		running.Go(func() {
			h.run(ctx)
			a.dismiss(h)
		})
	}
	a.mu.Unlock()
	lastNoted, err := a.Store.LastNoted()
	if err != nil {
		return fmt.Errorf("serving: %w", err)
	}
	for first := true; ; first = false {
		err := a.load(ctx, lastNoted)
		listed()
		lastNoted = 0
		switch {
		case err == nil:
			said = ""
		case first:
			return fmt.Errorf("serving: %w", err)
		case said != err.Error():
			said = err.Error()
			a.Log.Error("studies cannot be listed; those that are hosted go on", "error", err)
		}
		if err := a.guests.look(); err != nil {
			a.refusals.Error("", "invitations cannot be listed: those that are known stay open", "error", err)
		}
		inbox.Empty(ctx, a.Store.Dir(), kinds, a.Log)
		if now := a.Now(); now >= sweep {
			sweep = now + protocol.Instant(sweepEvery/time.Second)
			a.sweep(now)
			if err := a.guests.sweep(now); err != nil {
				a.Log.Error("invitations that were over long ago may still be here; the next hour tries again", "error", err)
			}
		}
		a.refusals.Tell()
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// sweepEvery is the interval between searches for expired sketches.
const sweepEvery = time.Hour

// sweep removes the sketches of studies past their retention date.
func (a *Aggregator) sweep(now protocol.Instant) {
	a.mu.Lock()
	files := slices.Collect(maps.Values(a.files))
	a.mu.Unlock()
	for _, s := range files {
		switch removed, err := a.removeExpired(s, now); {
		case err != nil:
			a.Log.Error("sketches whose time is over may still be here; the next hour tries again", "study", s.ID.Short(), "error", err)
		case removed:
			a.Log.Info("sketches removed, as the study says", "study", s.ID.Short(), "name", s.Name, "keep_until", s.KeepUntil.String())
		}
	}
}

// removeExpired turns a panic into an error, so that one study's failure does not affect the
// others.
func (a *Aggregator) removeExpired(s *study.Study, now protocol.Instant) (removed bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = node.Recovered(a.Log, s.ID, p)
		}
	}()
	return stored.RemoveExpired(a.Store, s, now)
}
