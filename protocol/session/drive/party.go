package drive

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Store holds what a party has made durable of one study.
type Store interface {
	Restored() (session.PartyRestored, error)

	// Board returns the part of the board that Persist stored, from its beginning on. It has no
	// envelopes if nothing was stored.
	Board() (session.Board, error)

	// Persist makes a record durable. After an error it is unknown whether that happened: the Party
	// must not be used any more, and a new one continues from what is stored.
	Persist(session.Record) error

	// Show receives the status after each step, once the step's records are durable. The step
	// returns its error.
	Show(session.Status) error
}

// Transport connects a party to the aggregator.
type Transport interface {
	// Post sends messages. A non-nil doubt means that the board has to show what became of them:
	// the aggregator refused some or all, or its acceptance cannot be trusted before the board
	// shows them. A non-nil err means that it is unknown whether they have arrived.
	Post(context.Context, []protocol.Verified) (doubt, err error)

	// Read returns the verified board from position from on. It waits up to wait seconds for news.
	Read(ctx context.Context, from uint64, wait uint32) (session.Board, error)
}

// Jobs does the work that a machine asks for. After an error the job remains to be done.
type Jobs interface {
	Run(context.Context, session.Job) (session.Event, error)
}

// StaleError is what Jobs returns if the aggregator lacks what a job is about, or refuses it: the
// board may show that the job is superseded. If it does not, Work returns the wrapped error.
type StaleError struct{ Err error }

func (e *StaleError) Error() string { return e.Err.Error() }

// Unwrap returns why the job could not be done.
func (e *StaleError) Unwrap() error { return e.Err }

// party hides the embedded machine: Party promotes its methods and overrides Step.
type party = session.Party

// Party is a party's machine with its store. It is not safe for concurrent use.
type Party struct {
	*party
	store  Store
	now    func() protocol.Instant
	post   []protocol.Verified // everything durable that is not on the board yet
	run    []session.Job       // in the order in which they were offered
	broken error
}

// Open makes the machine from what is stored, and replays the stored board. It sets the config's
// Restored from the store.
func Open(c session.PartyConfig, store Store, now func() protocol.Instant) (*Party, error) {
	var err error
	if c.Restored, err = store.Restored(); err != nil {
		return nil, err
	}
	machine, err := session.NewParty(c)
	if err != nil {
		return nil, err
	}
	p := &Party{party: machine, store: store, now: now}
	board, err := store.Board()
	if err != nil || len(board.Envelopes) == 0 {
		return p, err
	}
	board.Stored = true
	return p, p.Step(board)
}

// Step sets the time, processes the event, and makes durable what the machine asks for. Due then
// returns what is to be sent and run. An event that the machine refuses changes nothing.
func (p *Party) Step(event session.Event) error {
	if p.broken != nil {
		return p.broken
	}
	if _, err := p.party.Step(session.Tick{Now: p.now()}); err != nil {
		return err
	}
	effects, err := p.party.Step(event)
	if err != nil {
		return err
	}
	for _, record := range effects.Persist {
		if err := p.store.Persist(record); err != nil {
			p.broken = fmt.Errorf("the machine is ahead of its store: %w", err)
			return err
		}
	}
	p.post = effects.Send // always everything that is not on the board yet
	p.run = append(p.run, effects.Run...)
	p.run = slices.DeleteFunc(p.run, func(job session.Job) bool { return !p.Wants(job) })
	return p.store.Show(p.Status())
}

// Due returns the messages to be posted and the jobs to be run.
func (p *Party) Due() (post []protocol.Verified, run []session.Job) {
	return slices.Clone(p.post), slices.Clone(p.run)
}

// Post posts at most that many of the due messages. If there is doubt, it reads the board, which
// may show them or say why they were refused, for example because their attempt is over. If the
// machine still wants all of them sent, Post returns the doubt.
func (p *Party) Post(ctx context.Context, t Transport, most int) (doubt, err error) {
	sent := p.post[:min(most, len(p.post))]
	if doubt, err = t.Post(ctx, sent); err != nil {
		return nil, err
	}
	if doubt == nil {
		p.post = p.post[len(sent):]
		return nil, nil
	}
	if err := p.Read(ctx, t, 0); err != nil {
		return nil, err
	}
	for _, e := range sent {
		if !slices.ContainsFunc(p.post, func(due protocol.Verified) bool { return due.ID() == e.ID() }) {
			return nil, nil
		}
	}
	return doubt, nil
}

// Work runs the first due job and gives its outcome to the machine. It drops a job that failed
// because it is superseded.
func (p *Party) Work(ctx context.Context, jobs Jobs, t Transport) error {
	if len(p.run) == 0 {
		return nil
	}
	job := p.run[0]
	event, err := jobs.Run(ctx, job)
	var stale *StaleError
	if errors.As(err, &stale) {
		return p.superseded(ctx, t, job, stale.Err)
	}
	if err != nil {
		return err
	}
	p.run = p.run[1:]
	return p.Step(event)
}

// superseded reads the board, and returns nil if that shows that the job is superseded.
func (p *Party) superseded(ctx context.Context, t Transport, job session.Job, failed error) error {
	if err := p.Read(ctx, t, 0); err != nil {
		return err
	}
	if !p.Wants(job) {
		return nil // already dropped
	}
	fetch, ok := job.(session.FetchResult)
	if !ok {
		return failed
	}
	if newest, _ := p.Result(); newest.Document == fetch.Result.Document {
		return failed
	}
	p.run = p.run[1:] // jobs run in order, and a step never drops a FetchResult
	return nil
}

// Read admits the next part of the board.
func (p *Party) Read(ctx context.Context, t Transport, wait uint32) error {
	board, err := t.Read(ctx, p.Count(), wait)
	if err != nil {
		return err
	}
	return p.Step(board)
}
