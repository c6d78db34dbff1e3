package aggregator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// attempts at computing a result during which the process ended.
type attempts struct {
	Tries int `json:"tries"` // in a row
}

// Pauses before a computation that ended the process is tried again.
const (
	firstTry  protocol.Instant = 5
	mostTries protocol.Instant = 3600
)

func (t attempts) pause() protocol.Instant {
	if t.Tries == 0 {
		return 0
	}
	return min(firstTry<<min(2*(t.Tries-1), 20), mostTries)
}

// trouble is what a status says of it.
func (t attempts) trouble(again protocol.Instant) string {
	if t.Tries == 0 {
		return ""
	}
	return fmt.Sprintf("this node ended %s while it computed the result: it is tried again at %s, alone; too little memory for analysis: memory_mib is one cause", times(t.Tries), again)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times in a row", n)
}

// unfinished reads the mark that another process left.
func (a *Aggregator) unfinished(id protocol.StudyID) (out attempts, err error) {
	a.mu.Lock()
	own := a.marked[id]
	a.mu.Unlock()
	if own { // this process lives
		return out, nil
	}
	raw, err := a.Store.Result(id, filename.Computing)
	if errors.Is(err, store.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	if json.Unmarshal(raw, &out) != nil || out.Tries < 1 { // cut off: it is there
		out.Tries = 1
	}
	return out, nil
}

// mark says durably that a computation begins.
func (h *hosted) mark(before attempts) error {
	raw, err := json.Marshal(attempts{before.Tries + 1})
	if err != nil {
		return fmt.Errorf("marking a computation: %w", err)
	}
	h.mu.Lock()
	h.marked[h.study.ID] = true
	h.mu.Unlock()
	return h.Store.PutResult(h.study.ID, filename.Computing, raw)
}

// enqueue takes up a computation that the machine asks for.
func (h *hosted) enqueue(job session.Compute) {
	h.pending = &job
	pause := h.tries.pause()
	if h.Uptime == nil { // somebody waits for the command, who may want to cancel the study
		pause = min(pause, firstTry)
	}
	h.begin = h.Now() + pause
	if h.tries.Tries > 0 {
		h.Logger.Error("the result is not computed yet: "+h.tries.trouble(h.begin), "study", h.study.ID.Short())
	}
}

// beginDue begins the computation that is pending, when its time has come.
func (h *hosted) beginDue(ctx context.Context) error {
	if h.pending == nil || h.running || h.Now() < h.begin {
		return nil
	}
	job, before := *h.pending, h.tries
	h.pending, h.tries = nil, attempts{}
	if h.machine.Status().Terminal() { // it was cancelled meanwhile
		return h.show()
	}
	h.running = true
	go func() { h.jobs <- h.computeWithin(ctx, job, before) }()
	return h.show()
}

// computeWithin computes when there is memory for it: for all of it, where it ended the process
// before.
func (h *hosted) computeWithin(ctx context.Context, job session.Compute, before attempts) (out finished) {
	defer func() {
		if p := recover(); p != nil {
			out = finished{err: node.Recovered(h.Logger, h.study.ID, p)}
		}
	}()
	size, err := h.takes(job.Releases, h.room.size)
	if err != nil {
		return finished{err: err}
	}
	if before.Tries > 0 {
		size = h.room.size
	}
	leave, err := h.room.take(ctx, size)
	if err != nil {
		return finished{err: err}
	}
	defer leave()
	if err := h.mark(before); err != nil {
		return finished{err: err}
	}
	out = h.compute(ctx, job)
	if err := h.Store.DropResult(h.study.ID, filename.Computing); err != nil && out.err == nil {
		out.err = err
	}
	return out
}
