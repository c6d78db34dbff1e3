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

// Studies are those of the node, read from its store.
type Studies interface {
	Studies() ([]protocol.StudyID, error)
	// Standing is false of a study that was never served.
	Standing(protocol.StudyID) (Standing, bool, error)
}

// Outcome is what came of a message.
type Outcome string

// The outcomes. What failed is tried again; what was dropped is not.
const (
	Delivered Outcome = "delivered"
	Failed    Outcome = "failed"
	Dropped   Outcome = "dropped"
)

// Outcomes are all of them.
func Outcomes() []Outcome { return []Outcome{Delivered, Failed, Dropped} }

// Options makes a Sender.
type Options struct {
	Hooks      []Hook
	Dir        string // where outboxes are kept
	Studies    Studies
	Aggregator protocol.PeerID
	Version    string
	Now        func() protocol.Instant
	Log        *slog.Logger
	Count      func(Outcome)     // default: nobody counts
	Waiting    func(pending int) // told by how much more, or less, is pending; default: nobody is

	Uptime func() time.Duration                 // a clock that runs evenly; default: the machine's
	After  func(time.Duration) <-chan time.Time // default: time.After
}

// Bounds of what is kept for a hook.
const (
	mostMoves   = 1024             // that its goroutine has not looked at
	mostOfStudy = 64               // messages that are pending
	mostPending = 4096             // of all studies
	keepFor     = 3 * 24 * 60 * 60 // seconds, of a message
	leastPause  = time.Second      // before a second try
	mostPause   = 10 * time.Minute // before a further one
	lookEvery   = 60 * time.Second // at what other processes changed
	sayEvery    = time.Minute      // about one hook
	mostSaid    = 256              // hooks that are told apart in the log
)

// Sender tells hooks where studies stand.
type Sender struct {
	Options
	couriers []*courier
	said     *seldom.Log

	looking sync.Mutex // held from reading where a study stands until all hooks have it, so that they have it in order
}

// New opens the outboxes. A hook that is new is not told of what happened before it.
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
		c := &courier{Sender: s, hook: h, client: newClient(), outbox: outbox{filepath.Join(o.Dir, h.Name)}, news: make(chan struct{}, 1), tries: map[protocol.StudyID]*tries{}}
		if err := c.open(); err != nil {
			return nil, fmt.Errorf("opening webhook %s: %w", h.Name, err)
		}
		s.couriers = append(s.couriers, c)
	}
	return s, nil
}

// Look tells all hooks where a study stands, if it moved. It waits for the store, and for no hook.
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
		c.offer(seen{id, now, s.Now()})
	}
}

// Run sends until ctx ends. It returns when everything that it started has ended.
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

// lookAtAll finds what moved while nobody looked: before this process began, or by another one.
func (s *Sender) lookAtAll() {
	all, err := s.Studies.Studies()
	if err != nil {
		s.said.Error("", "webhooks cannot read which studies there are", "error", err)
	}
	for _, id := range all {
		s.Look(id)
	}
}

// courier is the goroutine of one hook, which alone uses what is not guarded.
type courier struct {
	*Sender
	hook   Hook
	client *http.Client
	outbox outbox
	all    map[protocol.StudyID]*record
	tries  map[protocol.StudyID]*tries // of studies of which something is pending
	count  int                         // of messages that are pending

	news  chan struct{} // has room for one
	mu    sync.Mutex
	moves []seen // guarded by mu
}

// seen is where a study stood.
type seen struct {
	study protocol.StudyID
	now   Standing
	at    protocol.Instant
}

// tries are those of the first pending message of a study.
type tries struct {
	next    time.Duration // by Uptime
	pause   time.Duration
	unsaved bool // the record in memory is ahead of the one on the disk
}

func (c *courier) open() (err error) {
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

func (c *courier) grow(by int) {
	c.count += by
	c.Waiting(by)
}

// offer hands over where a study stands, and never waits.
func (c *courier) offer(m seen) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.moves) == mostMoves { // where it stands then is found at the next look at all
		c.drop(m.study, "it does not keep up")
		return
	}
	c.moves = append(c.moves, m)
	select {
	case c.news <- struct{}{}:
	default:
	}
}

func (c *courier) drop(study protocol.StudyID, why string) {
	c.Count(Dropped)
	c.said.Warn(c.hook.Name, "a webhook is not told of a move", "study", study.Short(), "reason", why)
}

func (c *courier) run(ctx context.Context) {
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

// note puts what is to be told of a study behind what is pending of it.
func (c *courier) note(m seen) {
	r := c.all[m.study]
	if r == nil {
		r = &record{}
	}
	before, now := r.Announced, announced{m.now.State, max(r.Announced.Results, m.now.Results)}
	move := before.move(now, m.now.Cancelled)
	if move == "" {
		return
	}
	c.all[m.study], r.Announced = r, now
	if c.hook.wants(move) {
		r.Number++
		message := Message{Type: "study." + string(move), Timestamp: m.at.String(), Data: MoveData{
			Aggregator: c.Aggregator.String(), Study: m.study.String(), Name: m.now.Name, Number: r.Number,
			Before: string(before.State), After: string(m.now.State), WaitsFor: m.now.WaitsFor, From: append([]string{}, m.now.From...), Until: m.now.Until,
		}}
		switch {
		case c.count >= mostPending:
			c.drop(m.study, "too much is pending")
		case len(r.Pending) >= mostOfStudy:
			c.drop(m.study, "too much is pending")
			r.Pending = append(r.Pending[1:], newPending(message, m.at))
		default:
			r.Pending = append(r.Pending, newPending(message, m.at))
			c.grow(1)
		}
	}
	if c.tries[m.study] == nil {
		c.tries[m.study] = &tries{}
	}
	c.tries[m.study].unsaved = true
}

// next is the study whose turn comes first, and in how long; none is due where nothing is pending.
func (c *courier) next() (due protocol.StudyID, wait time.Duration) {
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

// send saves what is to be saved of a study, and tries to hand its first message over.
func (c *courier) send(ctx context.Context, id protocol.StudyID) {
	r, t := c.all[id], c.tries[id]
	err := c.save(id, r, t)
	for err == nil && len(r.Pending) > 0 && c.Now()-r.Pending[0].At > keepFor {
		c.drop(id, "it did not take it for three days")
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
		c.said.Warn(c.hook.Name, "a webhook failed, and is tried again", "study", id.Short(), "error", err)
	case len(r.Pending) == 0:
		delete(c.tries, id)
	default:
		*t = tries{next: c.Uptime()}
	}
}

// shift ends the first message.
func (c *courier) shift(id protocol.StudyID, r *record, t *tries) error {
	r.Pending = r.Pending[1:]
	c.grow(-1)
	t.unsaved = true
	return c.save(id, r, t)
}

func (c *courier) save(id protocol.StudyID, r *record, t *tries) error {
	if !t.unsaved {
		return nil
	}
	if err := c.outbox.put(id, r); err != nil {
		return err
	}
	t.unsaved = false
	return nil
}
