package aggregator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/seldom"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// Options makes an aggregator's node.
type Options struct {
	Store   node.AggregatorState     // required, opened for writing
	Listen  []string                 // required: multiaddrs
	Limits  p2p.Limits               // what peers may occupy
	Quotas  Quotas                   // what they may make it keep and compute
	Now     func() protocol.Instant  // required: the clock
	Version string                   // default: dev
	Logger  *slog.Logger             // default: nothing is logged
	Tick    time.Duration            // how often dates and new studies are looked at; default 1 s
	Entropy io.Reader                // for the handles by which results tell parties of others' records, read by one goroutine a study; default: crypto/rand
	Workers int                      // goroutines of one study's analyses; default: what the machine can run at once
	Observe event.AggregatorObserver // default: nobody

	// Uptime is a clock that runs evenly and that nobody sets. Default: the machine's own.
	Uptime func() time.Duration
}

// Aggregator is the operator's node: it hosts the boards of its studies, takes
// the parties' releases in and computes the results.
type Aggregator struct {
	Options
	signer protocol.Signer
	host   *p2p.Host
	room   *room         // for what all studies compute
	listed chan struct{} // closed when Serve has taken up the stored studies

	waking sync.Mutex // held while a study is taken up: one at a time

	mu       sync.Mutex
	files    map[protocol.StudyID]*study.Study // of the stored studies, as far as they can be read; guarded by mu
	peers    map[protocol.PeerID]bool          // whom they list; guarded by mu
	hosted   map[protocol.StudyID]*hosted      // guarded by mu
	resting  map[protocol.StudyID]bool         // have ended, and nobody asks for them; guarded by mu
	setbacks map[protocol.StudyID]*setback     // of studies that could not be served; guarded by mu
	marked   map[protocol.StudyID]bool         // whose computations this process has marked; guarded by mu
	start    func(*hosted)                     // runs a study for as long as Serve does; nil before and after; guarded by mu

	refusals *seldom.Log      // what peers cause to be said
	ahead    map[aheadOf]bool // of which the log has said so; guarded by mu

	saidAgain protocol.Instant // when the log may say again that nothing can be stored; guarded by mu
}

// New starts an aggregator: it knows the stored studies before it listens, so that
// none of their parties is refused, and Serve takes them up.
func New(o Options) (*Aggregator, error) {
	a, err := offline(o)
	if err != nil {
		return nil, err
	}
	if _, err := a.list(); err != nil {
		return nil, fmt.Errorf("starting aggregator: %w", err)
	}
	o = a.Options
	handlers := map[string]p2p.Handler{
		calls.Post: a.post, calls.Read: a.read, calls.Chunk: a.chunk, calls.Progress: a.progress, calls.Document: a.document,
		calls.Hello: a.hello, calls.Ledger: a.ledger, calls.Further: a.further, calls.Studies: a.offer, calls.Query: a.query,
	}
	for name, handle := range handlers {
		handlers[name] = a.observed(name, handle)
	}
	a.host, err = p2p.New(p2p.Config{
		Key: o.Store.Identity, Listen: o.Listen, Allow: a.allow, Handlers: handlers,
		Limits: calls.WithFrames(o.Limits), Version: o.Version, Logger: o.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("starting aggregator: %w", err)
	}
	return a, nil
}

// ID returns the aggregator's identity.
func (a *Aggregator) ID() protocol.PeerID { return a.signer.ID() }

// Addrs returns the multiaddrs at which it listens.
func (a *Aggregator) Addrs() []string { return a.host.Addrs() }

// takingUp bounds how long a call waits that comes before the stored studies are taken up.
const takingUp = 10 * time.Second

// allow admits the parties of the stored studies, and nobody else.
func (a *Aggregator) allow(id protocol.PeerID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.peers[id]
}

// list reads the files of stored studies that are not known yet, and returns what is stored.
func (a *Aggregator) list() ([]store.StudyEntry, error) {
	entries, err := a.Store.Studies()
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		a.mu.Lock()
		known := a.files[entry.ID] != nil
		a.mu.Unlock()
		if known || !a.due(entry.ID) {
			continue
		}
		s, err := a.readStudy(entry.ID)
		if err != nil {
			a.showDamage(a.setBack(entry.ID, err), err)
			continue
		}
		a.enter(s)
	}
	return entries, nil
}

// readStudy reads a stored study's file.
func (a *Aggregator) readStudy(id protocol.StudyID) (s *study.Study, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, node.Recovered(a.Logger, id, p)
		}
	}()
	source, err := a.Store.Study(id)
	if err != nil {
		return nil, err
	}
	return stored.Parse(id, source)
}

func (a *Aggregator) enter(s *study.Study) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files[s.ID] = s
	for _, p := range s.Parties {
		a.peers[p.ID] = true
	}
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

// load takes up the stored studies that have not ended and are not hosted yet. Before the first,
// lastNoted is of the journal's newest entry.
func (a *Aggregator) load(ctx context.Context, lastNoted protocol.Instant) error {
	entries, err := a.list()
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if ctx.Err() != nil {
			return nil // what is not hosted any more has ended with ctx
		}
		a.mu.Lock()
		file, known, again := a.files[entry.ID], a.hosted[entry.ID] != nil || a.resting[entry.ID], a.setbacks[entry.ID] != nil
		a.mu.Unlock()
		if file == nil || known || !a.due(entry.ID) {
			continue
		}
		if a.hasEnded(entry.ID) {
			a.mu.Lock()
			a.resting[entry.ID] = true
			a.mu.Unlock()
		} else if _, err := a.takeUp(entry.ID, lastNoted); err != nil {
			a.showDamage(a.setBack(entry.ID, err), err)
			continue
		}
		if again {
			continue // it is said when it is back
		}
		if !bytes.Equal(file.Aggregator.HPKE, a.Store.HPKE().PublicKey().Bytes()) {
			a.Logger.Error("hpke.key is not the one that the study names: no bundle of it can be opened (was it swapped? put its own back)", "study", entry.ID.Short())
		}
		a.Logger.Info("hosting study", "study", entry.ID.Short(), "name", file.Name, "parties", len(file.Parties))
	}
	return nil
}

// hasEnded reports whether the stored status says that a study has ended, which it says after
// the board does. Where there is none to be read, the board is.
func (a *Aggregator) hasEnded(id protocol.StudyID) bool {
	raw, err := a.Store.Status(id)
	if err != nil {
		return false
	}
	s, err := stored.DecodeSnapshot(raw)
	return err == nil && !s.Active() && s.Trouble == ""
}

// takeUp opens a study and runs it, unless it is hosted meanwhile.
func (a *Aggregator) takeUp(id protocol.StudyID, lastNoted protocol.Instant) (*hosted, error) {
	a.waking.Lock()
	defer a.waking.Unlock()
	a.mu.Lock()
	h, start, rested := a.hosted[id], a.start, a.resting[id]
	a.mu.Unlock()
	if h != nil {
		return h, nil
	}
	if start == nil {
		return nil, errGone
	}
	h, err := a.open(id)
	if err != nil {
		return nil, err
	}
	h.lastNoted = lastNoted
	if rested { // its status says that it has ended, and so does the log
		h.shown = h.machine.Status()
	}
	a.admit(h)
	start(h)
	return h, nil
}

func (a *Aggregator) admit(h *hosted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hosted[h.study.ID] = h
	delete(a.resting, h.study.ID)
}

// dismiss forgets a study whose goroutine has ended. It is taken up anew from the store: when it
// is asked for, if it rests, and else if the node goes on.
func (a *Aggregator) dismiss(h *hosted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.hosted, h.study.ID)
	if h.rests {
		a.resting[h.study.ID] = true
	}
}

// open restores a study from the store.
func (a *Aggregator) open(id protocol.StudyID) (h *hosted, err error) {
	unlock := func() {}
	defer func() {
		if p := recover(); p != nil {
			h, err = nil, node.Recovered(a.Logger, id, p)
		}
		if err != nil {
			unlock()
		}
	}()
	s, err := a.readStudy(id)
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

// find returns a study, if the caller is one of its parties, and takes it up if it rests. A
// stranger to the study cannot tell it from one that does not exist.
func (a *Aggregator) find(ctx context.Context, id protocol.StudyID, caller protocol.PeerID) (*hosted, error) {
	a.mu.Lock()
	file, h := a.files[id], a.hosted[id]
	a.mu.Unlock()
	listed := false
	if file != nil {
		_, listed = file.PartyIndex(caller)
	}
	if !listed {
		return nil, p2p.Refuse(p2p.CodeUnknownStudy, "study %s is not hosted here for you: is its file the same, and was it created at the aggregator?", id.Short())
	}
	if h == nil {
		var err error
		if h, err = a.wake(ctx, id); err != nil {
			return nil, err
		}
	}
	h.wanted.Store(int64(a.sinceStart()))
	return h, nil
}

// wake takes up a study that rests. One that is out of service waits for its time, and all wait
// for Serve.
func (a *Aggregator) wake(ctx context.Context, id protocol.StudyID) (*hosted, error) {
	ctx, cancel := context.WithTimeout(ctx, takingUp)
	defer cancel()
	select {
	case <-a.listed:
	case <-ctx.Done():
		return nil, errGone
	}
	a.mu.Lock()
	rests := a.resting[id]
	a.mu.Unlock()
	if err := a.outOfService(id); err != nil {
		return nil, err
	}
	h, err := a.takeUp(id, 0)
	switch {
	case err == nil || errors.Is(err, errGone):
		return h, err
	case rests && errors.Is(err, store.ErrLocked):
		return nil, p2p.Refuse(p2p.CodeBusy, "study %s is in use by a command at the aggregator", id.Short())
	}
	a.setBack(id, err)
	return nil, a.outOfService(id)
}

// sinceStart is Uptime, or 0 where nothing rests.
func (a *Aggregator) sinceStart() time.Duration {
	if a.Uptime == nil {
		return 0
	}
	return a.Uptime()
}

var errGone = errors.New("the study is not being served any more")
