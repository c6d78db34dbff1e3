package aggregator

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator/upload"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/session/drive"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// hosted is one study at the aggregator. Its machine belongs to the goroutine of run; all others
// hand in work through do.
type hosted struct {
	*shared
	executor
	study   *study.Study
	machine *drive.Aggregator
	unlock  func()
	stored  uint64 // envelopes of the board in the store
	results int    // of them
	shown   session.Status
	grace   grace
	said    string // what the stored status reports

	life    context.Context // of run: what the machine starts must outlive the call
	news    chan struct{}   // closed and replaced when the board grows; owned by run
	jobs    chan finished
	running bool             // a job is running
	pending *session.Compute // the job that is to run next
	begin   protocol.Instant // when it may begin
	tries   attempts         // those that ended earlier processes
	trouble string           // what the stored status reports

	wanted  atomic.Int64 // the Uptime of the last request for it
	waiting atomic.Int64 // callers that wait for news
	rests   bool         // run has returned because nobody asks for the study

	asking  sync.Mutex     // held while a query is being answered, one at a time
	answers sync.WaitGroup // of the goroutines that answer

	uploads upload.Uploads
	checks  *upload.Checks // owned by run
}

func newHosted(a *shared, s *study.Study) (*hosted, error) {
	uploads := upload.Uploads{State: a.Store, Study: s, Log: a.Log}
	h := &hosted{
		shared: a, executor: newTurns(), study: s, news: make(chan struct{}), jobs: make(chan finished, 1),
		grace: grace{study: s, now: a.Now, uptime: a.Uptime, log: a.Log}, uploads: uploads, checks: upload.NewChecks(uploads),
	}
	var err error
	h.machine, err = drive.OpenAggregator(session.AggregatorConfig{Study: s, Signer: a.signer}, nil, keeper{h})
	if err != nil {
		return nil, err
	}
	board, err := stored.Board(a.Store, s.ID)
	if err != nil {
		return nil, err
	}
	h.stored = uint64(len(board))
	h.count(board)
	h.wanted.Store(int64(a.sinceStart()))
	if h.tries, err = a.marks.unfinished(s.ID); err != nil {
		return nil, err
	}
	if err := h.machine.Restore(board); err != nil { // not by OpenAggregator: an error here is the board's
		return nil, stored.DamagedBoard(s.ID, err)
	}
	return h, nil
}

// count counts the results among stored envelopes.
func (h *hosted) count(envelopes []protocol.Verified) {
	for _, e := range envelopes {
		if e.Kind() == protocol.KindResult {
			h.results++
		}
	}
}

func (h *hosted) computer() computer { return computer{h.shared, h.effective(), h.uploads} }

// effective is the study; if it has two rounds, as set by its interim once that exists.
func (h *hosted) effective() *study.Study {
	if i, ok := h.machine.Interim(); ok {
		return h.study.WithBasis(i.Basis)
	}
	return h.study
}

// instant is the time to tell the machine.
func (h *hosted) instant() protocol.Instant { return h.grace.instant(h.machine.Due) }

// run owns the machine until ctx ends or a write fails.
func (h *hosted) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	h.life = ctx
	defer func() {
		cancel()
		close(h.ended)
		if h.running {
			<-h.jobs // the job has seen ctx end
		}
		h.answers.Wait()
		h.checks.Wait()
		h.unlock()
	}()
	if err := h.serve(ctx); err != nil {
		h.tell(h.setbacks.add(h.study.ID, err))
	}
}

// serve returns nil if ctx has ended, or else why the study cannot be served for now.
func (h *hosted) serve(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = node.Recovered(h.Log, h.study.ID, p)
		}
	}()
	ticker := time.NewTicker(h.Tick)
	defer ticker.Stop()
	if err = h.resume(ctx); err == nil {
		h.setbacks.back(h.study.ID)
	}
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if h.isSettled() {
				err = h.tick(ctx)
			}
			if err == nil && h.mayRest() {
				h.rests = true
				return nil
			}
		case f := <-h.work:
			err = f()
		case came := <-h.checks.Ended():
			err = h.judge(ctx, came)
		case job := <-h.jobs:
			h.running = false
			if ctx.Err() != nil {
				return nil // which may have ended the job
			}
			if err = job.err; err == nil {
				err = h.step(ctx, job.event)
			}
		}
	}
	return err
}

// restAfter is how long an ended study must go unrequested before it rests. Then its resources are
// freed; the next request takes it up again.
const restAfter = time.Minute

// mayRest reports whether the study has ended, nobody asks for it and nothing is in progress for
// it.
func (h *hosted) mayRest() bool {
	if h.Uptime == nil || !h.isSettled() || h.running || h.pending != nil || h.checks.UnderWay() || h.waiting.Load() > 0 ||
		h.sinceStart()-time.Duration(h.wanted.Load()) < restAfter || !h.machine.Status().Terminal() {
		return false
	}
	if !h.asking.TryLock() {
		return false // a query is being answered
	}
	h.asking.Unlock()
	return true
}

// tell writes to the status that the study is out of service, if that can be stored.
func (h *hosted) tell(s outage) {
	shown := stored.SnapshotOf(h.study, h.shown)
	shown.Results, shown.Trouble = h.results, s.trouble()
	if err := h.Store.PutStatus(h.study.ID, shown.Encode()); err != nil && s.failures == 1 {
		h.Log.Error("the status of a study cannot be stored either", "study", h.study.ID.Short(), "error", err)
	}
}

// resume checks the releases that had arrived before. Only then does it tell the machine the time:
// at the deadline, whatever the machine does not know of counts as missing.
func (h *hosted) resume(ctx context.Context) error {
	gone, err := stored.Purged(h.Store, h.study.ID)
	if err != nil {
		return err
	}
	if result, ok := h.machine.Result(); ok {
		for _, id := range result.Releases { // they were read when it was computed
			h.checks.Accept(id)
		}
	}
	for _, p := range h.study.Parties {
		header, posted := h.machine.Release(p.ID)
		if !posted {
			continue
		}
		if gone { // the releases of the result had arrived
			if _, used := h.checks.Known(header.ID); used {
				if err := h.step(ctx, session.Collected{Party: p.ID}); err != nil {
					return err
				}
			}
			continue
		}
		if _, _, err := h.collect(ctx, p.ID); err != nil {
			return err
		}
	}
	return h.settle(ctx)
}

// collect checks whether a party's release is complete, and if so tells the machine once it is
// verified. The channel, unless nil, is closed when more is known.
func (h *hosted) collect(ctx context.Context, party protocol.PeerID) (wire.Progress, <-chan struct{}, error) {
	header, ok := h.machine.Release(party)
	if !ok {
		return wire.Progress{}, nil, nil
	}
	if h.machine.Collected(party) {
		return wire.Progress{Complete: true}, nil, nil
	}
	progress, err := h.uploads.Progress(header)
	if err != nil || !progress.Complete {
		return progress, nil, err
	}
	switch refused, known := h.checks.Known(header.ID); {
	case known && refused != nil:
		return progress, nil, refused
	case known:
		return progress, nil, h.step(ctx, session.Collected{Party: party})
	}
	return progress, h.checks.Begin(ctx, header), nil
}

// judge handles the outcome of a check. It returns only errors of the store.
func (h *hosted) judge(ctx context.Context, came upload.Checked) error {
	defer h.checks.Take(came)()
	var damaged *upload.DamagedChunk
	switch {
	case errors.Is(came.Err, upload.ErrUnacceptable):
		h.Observe(event.Event{What: event.ReleaseRefused, Study: h.study.ID})
		h.refusals.Warn(came.Header.Party.ID.String(), "refused a release", "study", h.study.ID.Short(), "error", came.Err)
	case errors.As(came.Err, &damaged): // the chunk is gone: it is missing
	case came.Err != nil:
		return came.Err
	default:
		h.Observe(event.Event{What: event.ReleaseTaken, Study: h.study.ID})
		if _, _, err := h.collect(ctx, came.Header.Party.ID); err != nil {
			return err
		}
	}
	return h.settle(ctx)
}

// settle tells the machine the time once the last release that had arrived before is checked.
func (h *hosted) settle(ctx context.Context) error {
	if h.isSettled() || h.checks.UnderWay() {
		return nil
	}
	close(h.settled)
	return h.tick(ctx)
}

// tick tells the machine the time and begins a due computation.
func (h *hosted) tick(ctx context.Context) error {
	if err := h.step(ctx, session.Tick{Now: h.instant()}); err != nil {
		return err
	}
	return h.beginDue(ctx)
}

// step applies an event and does what the machine asks for. It returns only errors of the store:
// then the machine is ahead of what is durable and must not go on. A refused event never gets here:
// post returns it to its sender.
func (h *hosted) step(ctx context.Context, event session.AggregatorEvent) error {
	refused, err := h.take(ctx, event)
	return cmp.Or(err, refused)
}

// take is step for an event that may be refused, and that may end an attempt nevertheless.
func (h *hosted) take(ctx context.Context, event session.AggregatorEvent) (refused, err error) {
	run, refused, err := h.machine.Step(event)
	if err != nil {
		return nil, err
	}
	for _, job := range run {
		h.enqueue(job)
		if err := h.beginDue(ctx); err != nil {
			return nil, err
		}
	}
	return refused, h.show()
}

// enqueue accepts a computation that the machine asks for.
func (h *hosted) enqueue(job session.Compute) {
	h.pending = &job
	pause := h.tries.pause()
	if h.Uptime == nil { // somebody waits for the command and may want to cancel the study
		pause = min(pause, firstTry)
	}
	h.begin = h.Now() + pause
	if h.tries.Tries > 0 {
		h.Log.Error("the result is not computed yet: "+h.tries.trouble(h.begin), "study", h.study.ID.Short())
	}
}

// beginDue begins the pending computation if its time has come.
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
	go func() { h.jobs <- h.computer().within(ctx, job, before) }()
	return h.show()
}

// keeper stores the board for the loop around the machine.
type keeper struct{ *hosted }

// Append stores envelopes and tells those who wait for them.
func (k keeper) Append(envelopes []protocol.Verified) error {
	var raws [][]byte
	for _, e := range envelopes {
		bare, err := k.keepSealed(e)
		if err != nil {
			return err
		}
		raws = append(raws, wire.EncodeEnvelope(bare.Envelope()))
		k.Log.Info("on the board", "study", k.study.ID.Short(), "kind", e.Kind(), "from", stored.Names(k.study, []protocol.PeerID{e.Sender()})[0])
	}
	if err := k.Store.AppendBoard(k.study.ID, k.stored, raws, nil); err != nil {
		return err
	}
	k.stored += uint64(len(raws))
	k.count(envelopes)
	for _, e := range envelopes {
		k.Observe(event.Event{What: event.Posted, Study: k.study.ID, Kind: e.Kind()})
	}
	close(k.news)
	k.news = make(chan struct{})
	return nil
}

func (h *hosted) show() error {
	status, waiting := h.machine.Status(), h.grace.text()
	trouble := ""
	if h.pending != nil {
		trouble = h.tries.trouble(h.begin)
	}
	if status.Terminal() {
		waiting, trouble = "", ""
	}
	if stored.SameStatus(status, h.shown) && waiting == h.said && trouble == h.trouble {
		return nil
	}
	for _, fault := range status.Faults[min(len(h.shown.Faults), len(status.Faults)):] {
		h.Log.Warn("an attempt of the parties failed", "study", h.study.ID.Short(), "reason", fault)
	}
	h.shown, h.said, h.trouble = status, waiting, trouble
	if status.Terminal() {
		about := []any{"study", h.study.ID.Short(), "state", status.State}
		if status.Failure != nil {
			about = append(about, "reason", status.Failure)
		}
		h.Log.Info("study ended", about...)
	}
	shot := stored.SnapshotOf(h.study, status)
	shot.Results, shot.Grace, shot.Trouble = h.results, waiting, trouble
	if err := h.Store.PutStatus(h.study.ID, shot.Encode()); err != nil {
		return err
	}
	h.Observe(event.Event{What: event.Moved, Study: h.study.ID})
	return nil
}

// board reads the stored board from an index on: as much as one reply to this reader carries, with
// the head for just that many. Only run appends to it.
func (h *hosted) board(from uint64, reader protocol.PeerID) (wire.BoardReply, error) {
	reply := wire.BoardReply{From: from}
	// Not more than the machine has: another process may have appended since.
	there := h.stored - min(from, h.stored)
	raws, err := h.Store.Board(h.study.ID, from, int(min(wire.MaxEnvelopes, there)))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return reply, err
	}
	size := 0
	for _, raw := range raws {
		e, err := wire.DecodeEnvelope(raw)
		if err != nil {
			return reply, err
		}
		if err := h.sealedTo(&e, reader); err != nil {
			return reply, err
		}
		if size += len(wire.EncodeEnvelope(e)); size > calls.MostBoard && len(reply.Envelopes) > 0 {
			break
		}
		reply.Envelopes = append(reply.Envelopes, e)
	}
	reply.Head = h.machine.HeadAt(from + uint64(len(reply.Envelopes)))
	return reply, nil
}
