package drive

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Store is what a party has made durable of one study.
type Store interface {
	Restored() (session.PartyRestored, error)

	// Board returns what Persist stored of the board, from its beginning on; without envelopes where that is
	// nothing.
	Board() (session.Board, error)

	// Persist makes a record durable. After an error it has happened or not, and nobody knows: the Party is of no
	// use any more, and another one goes on from what is stored.
	Persist(session.Record) error

	// Show is told the status after each step, when what the step asked for is durable. Its error is the step's.
	Show(session.Status) error
}

// Transport is how a party speaks with the aggregator.
type Transport interface {
	// Post brings messages. Doubt is why the board has to say what became of them: the aggregator's no to them or to
	// one of them, or a yes that is not to be believed before the board shows them. Err says that nobody knows whether
	// they have arrived.
	Post(context.Context, []protocol.Verified) (doubt, err error)

	// Read returns the board from there on, verified. It waits up to so many seconds for news.
	Read(ctx context.Context, from uint64, wait uint32) (session.Board, error)
}

// Jobs does the work that a machine asks for. An error leaves the job to be done.
type Jobs interface {
	Run(context.Context, session.Job) (session.Event, error)
}

// StaleError is for Jobs to return where the aggregator has not got what a job is about, or says no to it: the
// board may say that the job is superseded. Work returns the error in it where it is not.
type StaleError struct{ Err error }

func (e *StaleError) Error() string { return e.Err.Error() }

// Unwrap returns why the job could not be done.
func (e *StaleError) Unwrap() error { return e.Err }

// party is the machine, of which others see what it says.
type party = session.Party

// Party is a party's machine over its store. One goroutine owns it.
type Party struct {
	*party
	store  Store
	now    func() protocol.Instant
	post   []protocol.Verified // all that is durable and not on the board yet
	run    []session.Job       // in the order in which they were offered
	broken error
}

// Open makes the machine from what is stored, and replays the stored board. The config's Restored is taken
// from the store.
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

// Step tells the time and then the event, and makes durable what the machine asks for. What is to be sent and
// to be run is Due afterwards. An event that the machine refuses changes nothing.
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
	p.post = effects.Send // always all that is not on the board yet
	p.run = append(p.run, effects.Run...)
	p.run = slices.DeleteFunc(p.run, func(job session.Job) bool { return !p.Wants(job) })
	return p.store.Show(p.Status())
}

// Due is what is to be posted, and what is to be run.
func (p *Party) Due() (post []protocol.Verified, run []session.Job) {
	return slices.Clone(p.post), slices.Clone(p.run)
}

// Post posts the first messages of those that are due. What is in doubt is looked up on the board, which may
// show it, or say why it was refused: that its attempt is over, say. Where the machine still wants all of it
// sent, the doubt is returned.
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

// Work runs the first job that is due and tells the machine what came of it. One that cannot be done as it is
// superseded is dropped.
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

// superseded reads the board, and is nil where that says that a job is none any more.
func (p *Party) superseded(ctx context.Context, t Transport, job session.Job, failed error) error {
	if err := p.Read(ctx, t, 0); err != nil {
		return err
	}
	if !p.Wants(job) {
		return nil // it is dropped already
	}
	fetch, ok := job.(session.FetchResult)
	if !ok {
		return failed
	}
	if newest, _ := p.Result(); newest.Document == fetch.Result.Document {
		return failed
	}
	p.run = p.run[1:] // jobs are done in their order, and results are never dropped by a step
	return nil
}

// Read takes the next stretch of the board in.
func (p *Party) Read(ctx context.Context, t Transport, wait uint32) error {
	board, err := t.Read(ctx, p.Count(), wait)
	if err != nil {
		return err
	}
	return p.Step(board)
}
