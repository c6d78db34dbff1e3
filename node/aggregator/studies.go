package aggregator

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// studies are the studies of a store. They are taken up by start, and when somebody asks for them.
type studies struct {
	*shared
	listed chan struct{} // closed once the stored studies have first been taken up
	waking sync.Mutex    // held while a study is taken up, one at a time

	mu      sync.Mutex
	files   map[protocol.StudyID]*study.Study // of the stored studies that can be read; guarded by mu
	peers   map[protocol.PeerID]bool          // the parties they list; guarded by mu
	hosted  map[protocol.StudyID]*hosted      // guarded by mu
	resting map[protocol.StudyID]bool         // have ended and nobody asks for them; guarded by mu
	start   func(*hosted)                     // runs a study while the node serves; nil before and after; guarded by mu
}

func newStudies(s *shared) *studies {
	return &studies{
		shared: s, listed: make(chan struct{}), files: map[protocol.StudyID]*study.Study{}, peers: map[protocol.PeerID]bool{},
		hosted: map[protocol.StudyID]*hosted{}, resting: map[protocol.StudyID]bool{},
	}
}

// takingUp bounds the wait of a call that comes before the stored studies are taken up.
const takingUp = 10 * time.Second

// allow admits only the parties of the stored studies.
func (a *studies) allow(id protocol.PeerID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.peers[id]
}

// list reads the files of new stored studies, and returns the list of what is stored.
func (a *studies) list() ([]store.StudyEntry, error) {
	entries, err := a.Store.Studies()
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		a.mu.Lock()
		known := a.files[entry.ID] != nil
		a.mu.Unlock()
		if known || !a.setbacks.due(entry.ID) {
			continue
		}
		s, err := a.readStudy(entry.ID)
		if err != nil {
			a.setbacks.showDamage(a.setbacks.add(entry.ID, err), err)
			continue
		}
		a.enter(s)
	}
	return entries, nil
}

// readStudy reads a stored study's file.
func (a *studies) readStudy(id protocol.StudyID) (s *study.Study, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, node.Recovered(a.Log, id, p)
		}
	}()
	source, err := a.Store.Study(id)
	if err != nil {
		return nil, err
	}
	return stored.Parse(id, source)
}

func (a *studies) enter(s *study.Study) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files[s.ID] = s
	for _, p := range s.Parties {
		a.peers[p.ID] = true
	}
}

// load takes up the stored studies that have not ended and are not hosted yet. lastNoted is the
// time of the journal's newest entry before the first call.
func (a *studies) load(ctx context.Context, lastNoted protocol.Instant) error {
	entries, err := a.list()
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if ctx.Err() != nil {
			return nil // a study no longer hosted has ended with ctx
		}
		a.mu.Lock()
		file, known := a.files[entry.ID], a.hosted[entry.ID] != nil || a.resting[entry.ID]
		a.mu.Unlock()
		again := a.setbacks.known(entry.ID)
		if file == nil || known || !a.setbacks.due(entry.ID) {
			continue
		}
		if a.hasEnded(entry.ID) {
			a.mu.Lock()
			a.resting[entry.ID] = true
			a.mu.Unlock()
		} else if _, err := a.takeUp(entry.ID, lastNoted); err != nil {
			a.setbacks.showDamage(a.setbacks.add(entry.ID, err), err)
			continue
		}
		if again {
			continue // the log says when it is back
		}
		if !bytes.Equal(file.Aggregator.HPKE, a.Store.HPKE().PublicKey().Bytes()) {
			a.Log.Error("hpke.key is not the key that the study names: the study's bundles cannot be opened (restore the original hpke.key)", "study", entry.ID.Short())
		}
		a.Log.Info("hosting study", "study", entry.ID.Short(), "name", file.Name, "parties", len(file.Parties))
	}
	return nil
}

// hasEnded reports whether the stored status says that a study has ended; the status is written
// after the board. If it cannot be read, the board decides.
func (a *studies) hasEnded(id protocol.StudyID) bool {
	raw, err := a.Store.Status(id)
	if err != nil {
		return false
	}
	s, err := stored.DecodeSnapshot(raw)
	return err == nil && !s.Active() && s.Trouble == ""
}

// takeUp opens a study and runs it, unless it is hosted meanwhile.
func (a *studies) takeUp(id protocol.StudyID, lastNoted protocol.Instant) (*hosted, error) {
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
	h.grace.lastNoted = lastNoted
	if rested { // its status and the log say that it has ended
		h.shown = h.machine.Status()
	}
	a.admit(h)
	start(h)
	return h, nil
}

func (a *studies) admit(h *hosted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hosted[h.study.ID] = h
	delete(a.resting, h.study.ID)
}

// dismiss forgets a study whose goroutine has ended. It is taken up again from the store: on the
// next request if it rests, or else if the node goes on.
func (a *studies) dismiss(h *hosted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.hosted, h.study.ID)
	if h.rests {
		a.resting[h.study.ID] = true
	}
	close(h.dismissed)
}

// open restores a study from the store.
func (a *studies) open(id protocol.StudyID) (h *hosted, err error) {
	unlock := func() {}
	defer func() {
		if p := recover(); p != nil {
			h, err = nil, node.Recovered(a.Log, id, p)
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
	if h, err = newHosted(a.shared, s); err != nil {
		return nil, err
	}
	h.unlock = unlock
	return h, nil
}

// find returns a study if the caller is one of its parties, and takes it up if it rests. Other
// callers cannot tell it from a study that does not exist.
func (a *studies) find(ctx context.Context, id protocol.StudyID, caller protocol.PeerID) (*hosted, error) {
	a.mu.Lock()
	file, h := a.files[id], a.hosted[id]
	a.mu.Unlock()
	listed := false
	if file != nil {
		_, listed = file.PartyIndex(caller)
	}
	if !listed {
		return nil, p2p.Refuse(p2p.CodeUnknownStudy, "study %s is not hosted here for you: is its file the same, and is it hosted at the aggregator? (a running one takes a new study up within seconds)", id.Short())
	}
	if h != nil && h.isOver() {
		select {
		case <-h.dismissed:
			h = nil
		case <-ctx.Done():
			return nil, errGone
		}
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

// wake takes up a study that rests. One that is out of service waits for its backoff, and all wait
// for Serve.
func (a *studies) wake(ctx context.Context, id protocol.StudyID) (*hosted, error) {
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
	if err := a.setbacks.outOfService(id); err != nil {
		return nil, err
	}
	h, err := a.takeUp(id, 0)
	switch {
	case err == nil || errors.Is(err, errGone):
		return h, err
	case rests && errors.Is(err, store.ErrLocked):
		return nil, p2p.Refuse(p2p.CodeBusy, "study %s is in use by a command at the aggregator", id.Short())
	}
	a.setbacks.add(id, err)
	return nil, a.setbacks.outOfService(id)
}
