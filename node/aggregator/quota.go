package aggregator

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
)

// What parties may make an aggregator keep and compute follows from its quotas and from their
// study: a release is admitted by its header, before a byte of it has come, or refused. What all
// studies compute at once stays within the quota of one.

// Quotas bound what parties may make an aggregator keep and compute. Zero memory and disk are
// the defaults of its configuration file.
type Quotas struct {
	analysis.Quotas
	Free int64 // bytes of its disk that no release may take; 0: it is not looked at
}

func (q Quotas) orDefaults() Quotas {
	if q.Memory == 0 {
		q.Memory = config.DefaultMemory
	}
	if q.Disk == 0 {
		q.Disk = config.DefaultUploads
	}
	return q
}

// fits refuses the header of a release that is larger than the quotas allow. One that is on the
// board already was admitted.
func (h *hosted) fits(v protocol.Verified) error {
	if v.Kind() != protocol.KindRelease {
		return nil
	}
	if _, posted := h.machine.Release(v.Sender()); posted {
		return nil
	}
	header, err := wire.DecodeRelease(v.Payload())
	if err != nil {
		return nil // the machine says what is wrong with it
	}
	party, _ := h.study.PartyIndex(v.Sender())
	err = h.Quotas.Admit(h.study, party, header.Records)
	var tooLarge *analysis.QuotaError
	if errors.As(err, &tooLarge) {
		h.refusals.Warn(v.Sender().String(), "refused a release that is too large", "study", h.study.ID.Short(), "error", err)
		return p2p.Refuse(p2p.CodeTooLarge, "%v: its operator may allow more, and the study file say how many records each party has", err)
	}
	if err != nil {
		return nil
	}
	var size int64
	for _, s := range header.Sketches {
		size += s.Size()
	}
	return h.roomFor(size)
}

// roomFor refuses for now what would take the disk's last bytes. Where none are to stay free, the
// disk itself says when it is full.
func (a *Aggregator) roomFor(size int64) error {
	if a.Quotas.Free == 0 {
		return nil
	}
	free, err := a.Store.Free()
	if err != nil {
		return err
	}
	if free-a.Quotas.Free >= size {
		return nil
	}
	a.mu.Lock()
	news := a.Now() >= a.saidAgain
	if news {
		a.saidAgain = a.Now() + sayAgain
	}
	a.mu.Unlock()
	if news {
		a.Logger.Error("no room for releases; parties try again (make room, or lower uploads: free_mib)", "free", free, "kept_free", a.Quotas.Free)
	}
	return p2p.Refuse(p2p.CodeBusy, "the aggregator's disk has no room for %d bytes more: its operator has to make some", size)
}

// takes is about how much memory the analyses of these releases want, of a room of so much.
func (h *hosted) takes(releases []session.Header, room int64) (most int64, err error) {
	var records int64
	for _, r := range releases {
		records += r.Release.Records
	}
	for index := range h.study.Sketches {
		one, err := analysis.Memory(h.study, index, records)
		if err != nil {
			return 0, err
		}
		most = max(most, one)
	}
	return min(most, room), nil
}

// room is memory that computations share. They are let in by their order.
type room struct {
	size int64

	mu      sync.Mutex
	taken   int64        // guarded by mu
	waiting []*latecomer // guarded by mu
}

type latecomer struct {
	size int64
	in   chan struct{} // closed when it is let in
}

// take waits for so much of the room, at most all of it, until ctx ends. It is given back by leave.
func (r *room) take(ctx context.Context, size int64) (leave func(), err error) {
	size = min(size, r.size)
	me := &latecomer{size, make(chan struct{})}
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
		r.taken -= size // it was let in at that moment
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

// admit lets those in who come next and for whom there is room.
func (r *room) admit() {
	for len(r.waiting) > 0 && r.taken+r.waiting[0].size <= r.size {
		r.taken += r.waiting[0].size
		close(r.waiting[0].in)
		r.waiting = r.waiting[1:]
	}
}
