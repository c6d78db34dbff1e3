package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/seldom"
	"github.com/cosketch/cosketch/protocol"
)

// AggregatorOptions makes an aggregator's node.
type AggregatorOptions struct {
	Store   AggregatorState         // required, opened for writing
	Listen  []string                // required: multiaddrs
	Limits  p2p.Limits              // what peers may occupy
	Quotas  Quotas                  // what they may make it keep and compute
	Now     func() protocol.Instant // required: the clock
	Version string                  // default: dev
	Logger  *slog.Logger            // default: nothing is logged
	Tick    time.Duration           // how often dates and new studies are looked at; default 1 s
	Entropy io.Reader               // for the handles by which results tell parties of others' records, read by one goroutine a study; default: crypto/rand
	Workers int                     // goroutines of one study's analyses; default: what the machine can run at once
	Observe AggregatorObserver      // default: nobody

	// Uptime is a clock that runs evenly and that nobody sets. Default: the machine's own.
	Uptime func() time.Duration
}

// Aggregator is the operator's node: it hosts the boards of its studies, takes
// the parties' releases in and computes the results.
type Aggregator struct {
	AggregatorOptions
	signer protocol.Signer
	host   *p2p.Host
	room   *room         // for what all studies compute
	listed chan struct{} // closed when Serve has taken up the stored studies

	mu       sync.Mutex
	hosted   map[protocol.StudyID]*hosted  // guarded by mu
	peers    map[protocol.PeerID]int       // how many hosted studies list a peer; guarded by mu
	setbacks map[protocol.StudyID]*setback // of studies that could not be served; guarded by mu
	marked   map[protocol.StudyID]bool     // whose computations this process has marked; guarded by mu

	refusals *seldom.Log      // what peers cause to be said
	ahead    map[aheadOf]bool // of which the log has said so; guarded by mu

	saidAgain protocol.Instant // when the log may say again that nothing can be stored; guarded by mu
}

// NewAggregator starts an aggregator: it listens and answers at once. Serve keeps
// it going, Close ends it.
func NewAggregator(o AggregatorOptions) (*Aggregator, error) {
	a, err := offline(o)
	if err != nil {
		return nil, err
	}
	o = a.AggregatorOptions
	a.host, err = p2p.New(p2p.Config{Key: o.Store.Identity, Listen: o.Listen, Allow: a.allow, Limits: withFrames(o.Limits), Version: o.Version, Logger: o.Logger})
	if err != nil {
		return nil, fmt.Errorf("starting aggregator: %w", err)
	}
	for name, handle := range map[string]p2p.Handler{
		callPost: a.post, callRead: a.read, callChunk: a.chunk, callProgress: a.progress, callDocument: a.document,
		callHello: a.hello, callLedger: a.ledger, callFurther: a.further, callStudies: a.offer, callQuery: a.query,
	} {
		a.host.Serve(name, a.observed(name, handle))
	}
	return a, nil
}

// ID returns the aggregator's identity.
func (a *Aggregator) ID() protocol.PeerID { return a.signer.ID() }

// Addrs returns the multiaddrs at which it listens.
func (a *Aggregator) Addrs() []string { return a.host.Addrs() }

// takingUp bounds how long a peer waits that comes before the stored studies are taken up.
const takingUp = 10 * time.Second

// allow admits the parties of the hosted studies, and nobody else.
func (a *Aggregator) allow(id protocol.PeerID) bool {
	select {
	case <-a.listed:
	default: // a timer only for those who come early
		select {
		case <-a.listed:
		case <-time.After(takingUp):
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.peers[id] > 0 {
		return true
	}
	for _, s := range a.setbacks {
		if s.lists(id) {
			return true
		}
	}
	return false
}

// Serve hosts the stored studies, also those that are added while it runs, until
// ctx ends. It returns when everything that it started has ended.
func (a *Aggregator) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	defer a.refusals.Close()
	defer a.host.Close() // handlers first, then the studies that they ask
	ticker := time.NewTicker(a.Tick)
	defer ticker.Stop()
	said := ""
	listed := sync.OnceFunc(func() { close(a.listed) })
	defer listed()
	lastNoted, err := a.Store.LastNoted()
	if err != nil {
		return fmt.Errorf("serving: %w", err)
	}
	for first := true; ; first = false {
		err := a.load(ctx, &running, lastNoted)
		listed()
		lastNoted = 0
		switch {
		case err == nil:
			said = ""
		case first:
			return fmt.Errorf("serving: %w", err)
		case said != err.Error():
			said = err.Error()
			a.Logger.Error("studies cannot be listed; those that are hosted go on", "error", err)
		}
		a.emptyInbox(ctx)
		a.refusals.Tell()
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// load starts hosting studies that are in the store and not hosted yet. Before the
// first, lastNoted is of the journal's newest entry.
func (a *Aggregator) load(ctx context.Context, running *sync.WaitGroup, lastNoted protocol.Instant) error {
	entries, err := a.Store.Studies()
	if err != nil {
		return err
	}
	for _, entry := range entries {
		a.mu.Lock()
		known := a.hosted[entry.ID] != nil
		a.mu.Unlock()
		if ctx.Err() != nil {
			return nil // what is not hosted any more has ended with ctx
		}
		if known || !a.due(entry.ID) {
			continue
		}
		h, err := a.open(entry.ID)
		if err != nil {
			a.setBack(entry.ID, nil, err)
			continue
		}
		h.lastNoted = lastNoted
		a.admit(h)
		running.Go(func() {
			h.run(ctx)
			a.dismiss(h)
		})
		a.mu.Lock()
		again := a.setbacks[entry.ID] != nil
		a.mu.Unlock()
		if again {
			continue // it is said when it is back
		}
		if !bytes.Equal(h.study.Aggregator.HPKE, a.Store.HPKE().PublicKey().Bytes()) {
			a.Logger.Error("hpke.key is not the one that the study names: no bundle of it can be opened (was it swapped? put its own back)", "study", entry.ID.Short())
		}
		a.Logger.Info("hosting study", "study", entry.ID.Short(), "name", h.study.Name, "parties", len(h.study.Parties))
	}
	return nil
}

func (a *Aggregator) admit(h *hosted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hosted[h.study.ID] = h
	for _, p := range h.study.Parties {
		a.peers[p.ID]++
	}
}

// dismiss forgets a study whose goroutine has ended; it is loaded anew from the
// store if the node goes on.
func (a *Aggregator) dismiss(h *hosted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.hosted, h.study.ID)
	for _, p := range h.study.Parties {
		a.peers[p.ID]--
	}
}

// open restores a study from the store.
func (a *Aggregator) open(id protocol.StudyID) (h *hosted, err error) {
	unlock := func() {}
	defer func() {
		if p := recover(); p != nil {
			h, err = nil, recovered(a.Logger, id, p)
		}
		if err != nil {
			unlock()
		}
	}()
	source, err := a.Store.Study(id)
	if err != nil {
		return nil, err
	}
	s, err := ParseStored(id, source)
	if err != nil {
		return nil, err
	}
	locked, err := a.Store.LockStudy(id)
	if err != nil {
		return nil, err
	}
	unlock = locked
	if h, err = newHosted(a, s); err != nil {
		return nil, err
	}
	h.unlock = unlock
	return h, nil
}

// find returns a hosted study, if the caller is one of its parties. A stranger
// to the study cannot tell it from one that does not exist.
func (a *Aggregator) find(id protocol.StudyID, caller protocol.PeerID) (*hosted, error) {
	a.mu.Lock()
	h := a.hosted[id]
	a.mu.Unlock()
	if h != nil {
		if _, ok := h.study.PartyIndex(caller); ok {
			return h, nil
		}
	}
	if err := a.outOfService(id, caller); err != nil {
		return nil, err
	}
	return nil, p2p.Refuse(p2p.CodeUnknownStudy, "study %s is not hosted here for you: is its file the same, and was it created at the aggregator?", id.Short())
}

var errGone = errors.New("the study is not being served any more")
