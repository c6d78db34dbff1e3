package aggregator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/session/drive"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// hosted is one study at the aggregator. Its machine belongs to the goroutine
// that run is; everybody else hands in work through do.
type hosted struct {
	*Aggregator
	study   *study.Study
	machine *drive.Aggregator
	unlock  func()
	stored  uint64 // envelopes of the board that are in the store
	shown   session.Status

	grace     grace
	said      string           // what the stored status says of it
	lastNoted protocol.Instant // the newest entry of the journal when the aggregator started; 0: not known

	life    context.Context   // of run: what the machine starts must outlive a call
	work    chan func() error // an error ends the service: the machine is ahead of the store
	ended   chan struct{}     // closed when run has returned
	news    chan struct{}     // closed and replaced when the board grows; owned by run
	jobs    chan finished
	running bool             // a job runs
	pending *session.Compute // one that does not yet
	begin   protocol.Instant // when it may
	tries   attempts         // that ended the process before this one
	trouble string           // what the stored status says of it

	wanted  atomic.Int64 // the Uptime at which somebody asked for it last
	waiting atomic.Int64 // callers that wait for news
	rests   bool         // run has returned, for nobody wants the study

	asking  sync.Mutex     // held while a query is being answered: one at a time
	answers sync.WaitGroup // of the goroutines that answer

	verdicts verdicts
	checking sync.Mutex     // held while a release is being checked: one at a time
	checks   sync.WaitGroup // of the goroutines that check
	settled  chan struct{}  // closed when what had arrived before is checked; until then the machine is not told the time
}

// finished is what came of a job: an event, or an error of the store, which ends the
// service.
type finished struct {
	event session.AggregatorEvent
	err   error
}

func newHosted(a *Aggregator, s *study.Study) (*hosted, error) {
	h := &hosted{Aggregator: a, study: s,
		work: make(chan func() error), ended: make(chan struct{}), news: make(chan struct{}), jobs: make(chan finished, 1), settled: make(chan struct{}),
		verdicts: verdicts{known: map[protocol.Digest]error{}, under: map[protocol.Digest]chan struct{}{}, ended: make(chan judgement)},
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
	h.wanted.Store(int64(a.sinceStart()))
	if h.tries, err = a.unfinished(s.ID); err != nil {
		return nil, err
	}
	if err := h.machine.Restore(board); err != nil { // not by OpenAggregator: what is wrong here is the board
		return nil, stored.DamagedBoard(s.ID, err)
	}
	return h, nil
}

// run owns the machine until ctx ends or something cannot be persisted.
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
		h.tell(h.setBack(h.study.ID, err))
	}
}

// serve is nil when ctx has ended, and else why the study cannot be served for the time being.
func (h *hosted) serve(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = node.Recovered(h.Logger, h.study.ID, p)
		}
	}()
	ticker := time.NewTicker(h.Tick)
	defer ticker.Stop()
	if err = h.resume(ctx); err == nil {
		h.back(h.study.ID)
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
		case v := <-h.verdicts.ended:
			err = h.judge(ctx, v)
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

// restAfter is how long nobody asks for a study that has ended before it rests: what it holds is
// given back, and it is taken up again when somebody asks.
const restAfter = time.Minute

// mayRest reports whether the study has ended, and neither anybody asks for it nor anything is
// being done for it.
func (h *hosted) mayRest() bool {
	if h.Uptime == nil || !h.isSettled() || h.running || h.pending != nil || len(h.verdicts.under) > 0 || h.waiting.Load() > 0 ||
		h.sinceStart()-time.Duration(h.wanted.Load()) < restAfter || !h.machine.Status().Terminal() {
		return false
	}
	if !h.asking.TryLock() {
		return false // a query is being answered
	}
	h.asking.Unlock()
	return true
}

// tell lets the status say that the study is out of service, as far as it can be stored.
func (h *hosted) tell(s setback) {
	shown := stored.SnapshotOf(h.study, h.shown)
	shown.Trouble = s.trouble()
	if err := h.Store.PutStatus(h.study.ID, shown.Encode()); err != nil && s.failures == 1 {
		h.Logger.Error("nor can its status be stored", "study", h.study.ID.Short(), "error", err)
	}
}

// resume finds the releases that had arrived before, and only when those are checked tells the
// time: at the deadline, what the machine has not been told of is missing.
func (h *hosted) resume(ctx context.Context) error {
	gone, err := stored.Purged(h.Store, h.study.ID)
	if err != nil {
		return err
	}
	if result, ok := h.machine.Result(); ok {
		for _, id := range result.Releases { // which were read when it was computed
			h.verdicts.known[id] = nil
		}
	}
	for _, p := range h.study.Parties {
		header, posted := h.machine.Release(p.ID)
		if !posted {
			continue
		}
		if gone { // what the result used had arrived
			if _, used := h.verdicts.known[header.ID]; used {
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

// settle tells the time when the last release that had arrived before is checked.
func (h *hosted) settle(ctx context.Context) error {
	if h.isSettled() || len(h.verdicts.under) > 0 {
		return nil
	}
	close(h.settled)
	return h.tick(ctx)
}

func (h *hosted) isSettled() bool {
	select {
	case <-h.settled:
		return true
	default:
		return false
	}
}

// tick tells the machine the time, and begins what was to wait.
func (h *hosted) tick(ctx context.Context) error {
	if err := h.step(ctx, session.Tick{Now: h.instant()}); err != nil {
		return err
	}
	return h.beginDue(ctx)
}

// doSettled is do, once the machine may be told the time.
func (h *hosted) doSettled(ctx context.Context, f func() error) error {
	select {
	case <-h.settled:
		return h.do(ctx, f)
	case <-h.ended:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
}

// do runs f on the goroutine that owns the machine, waits for it and returns its
// error, which is one of the store's and ends the service.
func (h *hosted) do(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	select {
	case h.work <- func() error {
		err := f()
		done <- err
		return err
	}:
		select {
		case err := <-done:
			return err
		case <-h.ended: // f may have panicked, and sends nothing
		}
		select {
		case err := <-done:
			return err
		default:
			return errGone
		}
	case <-h.ended:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
}

// step takes an event and does what the machine asks for. An error is one of the
// store's: the machine is ahead of what is durable and must not go on. A refused
// event never gets that far: post returns it to its sender.
func (h *hosted) step(ctx context.Context, event session.AggregatorEvent) error {
	refused, err := h.take(ctx, event)
	return cmp.Or(err, refused)
}

// take is step for an event that may be refused, which may end an attempt nevertheless.
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

// keeper is where the loop around the machine keeps the board.
type keeper struct{ *hosted }

// Append stores envelopes and tells those who wait for them.
func (k keeper) Append(envelopes []protocol.Verified) error {
	var raws [][]byte
	for _, e := range envelopes {
		raws = append(raws, wire.EncodeEnvelope(e.Envelope()))
		k.Logger.Info("on the board", "study", k.study.ID.Short(), "kind", e.Kind(), "from", stored.Names(k.study, []protocol.PeerID{e.Sender()})[0])
	}
	if err := k.Store.AppendBoard(k.study.ID, k.stored, raws, nil); err != nil {
		return err
	}
	k.stored += uint64(len(raws))
	k.tellPosted(envelopes)
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
		h.Logger.Warn("an attempt of the parties failed", "study", h.study.ID.Short(), "reason", fault)
	}
	h.shown, h.said, h.trouble = status, waiting, trouble
	if status.Terminal() {
		about := []any{"study", h.study.ID.Short(), "state", status.State}
		if status.Failure != nil {
			about = append(about, "reason", status.Failure)
		}
		h.Logger.Info("study ended", about...)
	}
	shot := stored.SnapshotOf(h.study, status)
	shot.Grace, shot.Trouble = waiting, trouble
	if err := h.Store.PutStatus(h.study.ID, shot.Encode()); err != nil {
		return err
	}
	h.Observe(event.Happening{What: event.Moved, Study: h.study.ID})
	return nil
}

// contribution reads a collected release from the store.
func (h *hosted) contribution(ctx context.Context, header session.Header) (analysis.Contribution, error) {
	index, _ := h.study.PartyIndex(header.Party.ID)
	out := analysis.Contribution{Party: index, Header: header.ID, Records: header.Release.Records, Published: header.Release.Published}
	out.Scan = func(i int, take func(entries []int64)) error {
		s := header.Release.Sketches[i]
		if err := release.Scan(s, h.uploadedSketch(ctx, header, i), take); err != nil {
			return &readingError{fmt.Errorf("sketch %d of %s: %w", i, header.Party.Name, err)}
		}
		return nil
	}
	for i, s := range header.Release.Sketches {
		out.Masked = s.Masked
		one := sketch.Sketch{Side: s.Side, Rows: int(s.Rows), Cols: int(s.Cols)}
		var labels []int
		var rows release.Rows
		var err error
		switch from := h.uploadedSketch(ctx, header, i); s.Side {
		case sketch.Columns: // read when it is merged
		case sketch.Records: // read when its records are gathered
			labels, rows, err = h.beside(index, i, s, from)
			if labels != nil {
				one.Cols--
			}
		default:
			one, err = h.sums(index, i, s, from)
		}
		if err != nil {
			return out, fmt.Errorf("sketch %d of %s: %w", i, header.Party.Name, err)
		}
		out.Sketches, out.Labels, out.Rows = append(out.Sketches, one), append(out.Labels, labels), append(out.Rows, rows)
		out.Bytes += s.Size()
	}
	return out, nil
}

// beside reads what stands beside the rows of a released sketch of records.
func (h *hosted) beside(party, index int, s protocol.ReleasedSketch, from io.Reader) ([]int, release.Rows, error) {
	plan, err := release.For(h.study, party, index)
	if err != nil {
		return nil, release.Rows{}, err
	}
	return plan.Beside(s, from)
}

// sums reads a released sketch of sums.
func (h *hosted) sums(party, index int, s protocol.ReleasedSketch, from io.Reader) (sketch.Sketch, error) {
	plan, err := release.For(h.study, party, index)
	if err != nil {
		return sketch.Sketch{}, err
	}
	decoded, err := release.Decode(s, from)
	if err == nil {
		_, err = release.DecodeRows(s, from)
	}
	if err == nil {
		decoded, _, err = plan.Unpack(decoded)
	}
	return decoded, err
}

// compute runs the analyses and stores the documents. A panic in numerics must
// cost this study alone. What the store fails at is no failure of the study: it is
// computed again when the study is taken up again.
func (h *hosted) compute(ctx context.Context, job session.Compute) (out finished) {
	defer func() {
		if p := recover(); p != nil {
			h.Observe(event.Happening{What: event.Uncomputed, Study: h.study.ID})
			what, stack := node.PanicText(p)
			h.Logger.Error("analyses panicked", "study", h.study.ID.Short(), "panic", what, "stack", stack)
			out = finished{event: session.JobFailed{Err: errors.New("internal error")}}
		}
	}()
	began := time.Now()
	done, err := h.analyse(ctx, job)
	var impossible *analysisError
	switch {
	case ctx.Err() != nil: // the node ends
		return finished{err: ctx.Err()}
	case err == nil:
		h.Observe(event.Happening{What: event.Computed, Study: h.study.ID, Took: time.Since(began)})
		return finished{event: done}
	case errors.As(err, &impossible):
		h.Observe(event.Happening{What: event.Uncomputed, Study: h.study.ID, Took: time.Since(began)})
		h.Logger.Error("analyses failed", "study", h.study.ID.Short(), "error", err)
		return finished{event: session.JobFailed{Err: err}}
	}
	return finished{err: fmt.Errorf("computing the result: %w", err)}
}

// analysisError is a failure of the analyses themselves, which parties may read.
type analysisError struct{ error }

// readingError is a failure of the disk in the midst of the analyses, which is none of theirs.
type readingError struct{ error }

func (e *readingError) Unwrap() error { return e.error }

func (h *hosted) analyse(ctx context.Context, job session.Compute) (session.Computed, error) {
	o := analysis.Options{
		Study: h.study, Attempt: job.Attempt, T2: job.T2, Complete: job.Complete,
		Entropy: h.Entropy, Workers: h.Workers, Memory: h.Quotas.Memory,
	}
	for _, header := range job.Releases {
		c, err := h.contribution(ctx, header)
		if err != nil {
			return session.Computed{}, err
		}
		o.Contributions = append(o.Contributions, c)
	}
	o.Observe = func(p analysis.Progress) {
		h.Observe(event.Happening{What: event.Analysing, Study: h.study.ID, Progress: p})
		h.Logger.Info("analysing", "study", h.study.ID.Short(), "analysis", p.Analysis+1, "kind", p.Kind, "done", p.Done, "of", p.Total)
	}
	o.Failed = h.failed
	before, err := stored.StoredTables(h.Store, h.study.ID)
	if err != nil {
		return session.Computed{}, err
	}
	o.Keep = shelf{h.Store, h.study.ID}
	result, labels, err := analysis.Run(ctx, o)
	var reading *readingError
	var keeping *analysis.KeepError
	if errors.As(err, &reading) || errors.As(err, &keeping) {
		return session.Computed{}, err
	}
	if err != nil {
		return session.Computed{}, &analysisError{err}
	}
	done := session.Computed{Releases: job.Releases}
	if done.Document, err = h.put(filename.Result, result); err != nil {
		return session.Computed{}, err
	}
	if err := stored.DropTables(h.Store, h.study, before, result); err != nil {
		return session.Computed{}, err
	}
	for i, l := range labels {
		party := h.study.Parties[o.Contributions[i].Party].ID
		d, err := h.put(filename.PartyLabels(party), l)
		if err != nil {
			return session.Computed{}, err
		}
		done.PerParty = append(done.PerParty, protocol.PartyDocument{Party: party, Document: d})
	}
	return done, nil
}

// failed logs an analysis that is undefined in the result, as numerics failed.
func (h *hosted) failed(f analysis.Failure) {
	h.Logger.Error("an analysis failed", "study", h.study.ID.Short(), "analysis", f.Analysis+1, "kind", f.Kind, "error", f.Err, "stack", f.Stack)
}

func (h *hosted) put(name string, document any) (protocol.Document, error) {
	data, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		return protocol.Document{}, fmt.Errorf("encoding %s: %w", name, err)
	}
	data = append(data, '\n')
	return stored.DocumentOf(data), h.Store.PutResult(h.study.ID, name, data)
}

// board reads the stored board, which only run appends to, from an index on: as
// much as one reply carries, with the head of just that much.
func (h *hosted) board(from uint64) (wire.BoardReply, error) {
	reply := wire.BoardReply{From: from}
	// No more than the machine has: another process may have appended since.
	there := h.stored - min(from, h.stored)
	raws, err := h.Store.Board(h.study.ID, from, int(min(wire.MaxEnvelopes, there)))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return reply, err
	}
	size := 0
	for _, raw := range raws {
		if size += len(raw); size > calls.MostBoard && len(reply.Envelopes) > 0 {
			break
		}
		e, err := wire.DecodeEnvelope(raw)
		if err != nil {
			return reply, err
		}
		reply.Envelopes = append(reply.Envelopes, e)
	}
	reply.Head = h.machine.HeadAt(from + uint64(len(reply.Envelopes)))
	return reply, nil
}
