package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node/seldom"
	"github.com/cosketch/cosketch/protocol"
)

// Studies reads the node's studies from its store.
type Studies interface {
	Studies() ([]protocol.StudyID, error)
	// Standing returns false for a study that was never served.
	Standing(protocol.StudyID) (State, bool, error)
}

// Outcome is the outcome of a message.
type Outcome string

// The outcomes. A failed message is retried; a dropped one is not.
const (
	Delivered Outcome = "delivered"
	Failed    Outcome = "failed"
	Dropped   Outcome = "dropped"
)

// Outcomes lists all outcomes.
func Outcomes() []Outcome { return []Outcome{Delivered, Failed, Dropped} }

// Options configures a Sender.
type Options struct {
	Hooks      []Hook
	Dir        string // directory of the outboxes
	Studies    Studies
	Aggregator protocol.PeerID
	Version    string
	Now        func() protocol.Instant
	Log        *slog.Logger
	Count      func(Outcome)     // default: not counted
	Waiting    func(pending int) // called with the change in the number of pending messages; default: none

	Uptime func() time.Duration                 // a monotonic clock; default: the machine's
	After  func(time.Duration) <-chan time.Time // default: time.After
}

// Limits for each hook.
const (
	mostMoves   = 1024             // moves that its goroutine has not processed
	mostOfStudy = 64               // pending messages of one study
	mostPending = 4096             // pending messages of all studies
	keepFor     = 3 * 24 * 60 * 60 // lifetime of a message, in seconds
	leastPause  = time.Second      // before the first retry
	mostPause   = 10 * time.Minute // longest pause between retries
	lookEvery   = 60 * time.Second // interval of the check for changes by other processes
	sayEvery    = time.Minute      // interval of log lines about one hook
	mostSaid    = 256              // hooks tracked separately in the log
)

// Sender tells hooks the state of studies.
type Sender struct {
	Options
	couriers []*worker
	said     *seldom.Log

	looking sync.Mutex // held while a study's state is read and passed to all hooks, so that they get states in order
}

// New opens the outboxes. A new hook is not told of earlier events.
func New(o Options) (*Sender, error) {
	if o.Uptime == nil {
		o.Uptime = seldom.Clock(time.Now)
	}
	if o.After == nil {
		o.After = time.After
	}
	if o.Count == nil {
		o.Count = func(Outcome) {}
	}
	if o.Waiting == nil {
		o.Waiting = func(int) {}
	}
	s := &Sender{Options: o, said: seldom.New(o.Log, o.Uptime, sayEvery, mostSaid)}
	for _, h := range o.Hooks {
		c := &worker{Sender: s, hook: h, client: newClient(), outbox: outbox{filepath.Join(o.Dir, h.Name)}, news: make(chan struct{}, 1), tries: map[protocol.StudyID]*tries{}}
		if err := c.open(); err != nil {
			return nil, fmt.Errorf("opening webhook %s: %w", h.Name, err)
		}
		s.couriers = append(s.couriers, c)
	}
	return s, nil
}

// Look tells all hooks a study's state if it changed. It waits for the store, but for no hook.
func (s *Sender) Look(id protocol.StudyID) {
	if len(s.couriers) == 0 {
		return
	}
	s.looking.Lock()
	defer s.looking.Unlock()
	now, served, err := s.Studies.Standing(id)
	if err != nil {
		s.said.Error("", "webhooks cannot read where a study stands", "study", id.Short(), "error", err)
		return
	}
	if !served {
		return
	}
	for _, c := range s.couriers {
		c.offer(observation{id, now, s.Now()})
	}
}

// Run sends until ctx ends. It returns when everything it started has ended.
func (s *Sender) Run(ctx context.Context) {
	if len(s.couriers) == 0 {
		return
	}
	var running sync.WaitGroup
	defer s.said.Close()
	defer running.Wait()
	for _, c := range s.couriers {
		running.Go(func() { c.run(ctx) })
	}
	for {
		s.lookAtAll()
		select {
		case <-s.After(lookEvery):
			s.said.Tell()
		case <-ctx.Done():
			return
		}
	}
}

// lookAtAll finds missed changes: those before this process began, or by another process.
func (s *Sender) lookAtAll() {
	all, err := s.Studies.Studies()
	if err != nil {
		s.said.Error("", "webhooks cannot read which studies there are", "error", err)
	}
	for _, id := range all {
		s.Look(id)
	}
}

// worker serves one hook from one goroutine, which alone uses the fields that are not guarded.
type worker struct {
	*Sender
	hook   Hook
	client *http.Client
	outbox outbox
	all    map[protocol.StudyID]*record
	tries  map[protocol.StudyID]*tries // of studies with pending messages or unsaved records
	count  int                         // pending messages

	news  chan struct{} // capacity 1
	mu    sync.Mutex
	moves []observation // guarded by mu
}

// observation is a study's state at some time.
type observation struct {
	study protocol.StudyID
	now   State
	at    protocol.Instant
}

// tries is the retry state of a study's first pending message.
type tries struct {
	next    time.Duration // by Uptime
	pause   time.Duration
	unsaved bool // the record in memory is newer than the stored one
}

func (c *worker) open() (err error) {
	var fresh bool
	if c.all, fresh, err = c.outbox.open(); err != nil {
		return err
	}
	for id, r := range c.all {
		if len(r.Pending) > 0 {
			c.tries[id] = &tries{}
			c.grow(len(r.Pending))
		}
	}
	if !fresh {
		return nil
	}
	studies, err := c.Studies.Studies()
	if err != nil {
		return err
	}
	for _, id := range studies {
		now, served, err := c.Studies.Standing(id)
		if err != nil {
			return err
		}
		if !served || c.all[id] != nil {
			continue
		}
		r := &record{Announced: announced{now.State, now.Results}}
		if err := c.outbox.put(id, r); err != nil {
			return err
		}
		c.all[id] = r
	}
	return c.outbox.begin()
}

func (c *worker) grow(by int) {
	c.count += by
	c.Waiting(by)
}

// offer queues a study's state and never blocks.
func (c *worker) offer(m observation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.moves) == mostMoves { // lookAtAll will find the state later
		c.drop(m.study, "its queue is full")
		return
	}
	c.moves = append(c.moves, m)
	select {
	case c.news <- struct{}{}:
	default:
	}
}

func (c *worker) drop(study protocol.StudyID, why string) {
	c.Count(Dropped)
	c.said.Warn(c.hook.Name, "a webhook is not told of a move", "study", study.Short(), "reason", why)
}

func (c *worker) run(ctx context.Context) {
	defer c.client.CloseIdleConnections()
	for ctx.Err() == nil {
		c.mu.Lock()
		moves := c.moves
		c.moves = nil
		c.mu.Unlock()
		for _, m := range moves {
			c.note(m)
		}
		due, wait := c.next()
		if wait <= 0 {
			c.send(ctx, due)
			continue
		}
		var timer <-chan time.Time
		if len(c.tries) > 0 {
			timer = c.After(wait)
		}
		select {
		case <-c.news:
		case <-timer:
		case <-ctx.Done():
		}
	}
}

// note appends a study's move to its pending messages. If too many are pending, it drops the study's
// oldest message, or waits with the move if the study has none: a hook always learns the last state.
func (c *worker) note(m observation) {
	r := c.all[m.study]
	if r == nil {
		r = &record{}
	}
	before, now := r.Announced, announced{m.now.State, max(r.Announced.Results, m.now.Results)}
	move := before.move(now, m.now.Cancelled)
	if move == "" {
		return
	}
	if c.hook.wants(move) && c.count >= mostPending && len(r.Pending) == 0 {
		c.said.Warn(c.hook.Name, "a webhook is told of a move later", "study", m.study.Short(), "reason", "too much is pending")
		return // lookAtAll finds the state again
	}
	c.all[m.study], r.Announced = r, now
	if c.hook.wants(move) {
		r.Number++
		message := Message{Type: "study." + string(move), Timestamp: m.at.String(), Data: MoveData{
			Aggregator: c.Aggregator.String(), Study: m.study.String(), Name: m.now.Name, Number: r.Number,
			Before: string(before.State), After: string(m.now.State), WaitsFor: m.now.WaitsFor, From: append([]string{}, m.now.From...), Until: m.now.Until,
		}}
		if c.count >= mostPending || len(r.Pending) >= mostOfStudy { // the oldest gives way
			c.drop(m.study, "too much is pending")
			r.Pending = r.Pending[1:]
			c.grow(-1)
		}
		r.Pending = append(r.Pending, newPending(message, m.at))
		c.grow(1)
	}
	if c.tries[m.study] == nil {
		c.tries[m.study] = &tries{}
	}
	c.tries[m.study].unsaved = true
}

// next returns the study whose retry is due first, and the time until then. If nothing is pending,
// it returns no study.
func (c *worker) next() (due protocol.StudyID, wait time.Duration) {
	wait = lookEvery
	now := c.Uptime()
	first := true
	for id, t := range c.tries {
		in := t.next - now
		if before := cmp.Compare(in, wait); first || before < 0 || before == 0 && cmp.Compare(id.String(), due.String()) < 0 {
			due, wait, first = id, in, false
		}
	}
	return due, wait
}

// send saves a study's record and tries to deliver its first message.
func (c *worker) send(ctx context.Context, id protocol.StudyID) {
	r, t := c.all[id], c.tries[id]
	err := c.save(id, r, t)
	for err == nil && len(r.Pending) > 0 && c.Now()-r.Pending[0].At > keepFor {
		c.drop(id, "it was not accepted for three days")
		err = c.shift(id, r, t)
	}
	if err == nil && len(r.Pending) > 0 {
		if err = c.hook.post(ctx, c.client, c.Version, r.Pending[0], c.Now()); err == nil {
			c.Count(Delivered)
			c.Log.Debug("a webhook was told of a move", "hook", c.hook.Name, "study", id.Short())
			err = c.shift(id, r, t)
		} else if ctx.Err() == nil {
			c.Count(Failed)
		}
	}
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
	case err != nil:
		t.pause = min(max(2*t.pause, leastPause), mostPause)
		t.next = c.Uptime() + t.pause
		c.said.Warn(c.hook.Name, "a webhook failed, and is retried", "study", id.Short(), "error", err)
	case len(r.Pending) == 0:
		delete(c.tries, id)
	default:
		*t = tries{next: c.Uptime()}
	}
}

// shift removes the first message.
func (c *worker) shift(id protocol.StudyID, r *record, t *tries) error {
	r.Pending = r.Pending[1:]
	c.grow(-1)
	t.unsaved = true
	return c.save(id, r, t)
}

func (c *worker) save(id protocol.StudyID, r *record, t *tries) error {
	if !t.unsaved {
		return nil
	}
	if err := c.outbox.put(id, r); err != nil {
		return err
	}
	t.unsaved = false
	return nil
}
