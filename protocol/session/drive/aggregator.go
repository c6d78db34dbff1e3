package drive

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Board is where an aggregator keeps a study's board.
type Board interface {
	// Append makes envelopes durable behind those that are there: all of them or, with an error, nobody knows how
	// many. Then the Aggregator is of no use any more.
	Append([]protocol.Verified) error
}

type aggregator = session.Aggregator

// Aggregator is an aggregator's machine over the board that it keeps. One goroutine owns it.
type Aggregator struct {
	*aggregator
	board  Board
	broken error
}

// OpenAggregator makes the machine from the stored board. What is wholly stored of releases follows as
// Collected events, and only then the time: see session.Aggregator.Restore.
func OpenAggregator(c session.AggregatorConfig, stored []protocol.Verified, board Board) (*Aggregator, error) {
	machine, err := session.NewAggregator(c)
	if err != nil {
		return nil, err
	}
	return &Aggregator{aggregator: machine, board: board}, machine.Restore(stored)
}

// Step takes an event and puts on the board what the machine asks for. Run is what it wants computed. Refused is
// why the event was refused, which may have had effects nevertheless. Broken is an error of the board.
func (a *Aggregator) Step(event session.AggregatorEvent) (run []session.Compute, refused, broken error) {
	if a.broken != nil {
		return nil, nil, a.broken
	}
	effects, refused := a.aggregator.Step(event)
	run, err := a.carryOut(effects)
	if err != nil {
		a.broken = fmt.Errorf("the machine is ahead of its board: %w", err)
		return nil, nil, err
	}
	return run, refused, nil
}

func (a *Aggregator) carryOut(effects session.Effects) (run []session.Compute, err error) {
	var more []protocol.Verified
	for _, record := range effects.Persist {
		save, ok := record.(session.SaveEnvelope)
		if !ok {
			return nil, fmt.Errorf("an aggregator cannot persist a %T", record)
		}
		more = append(more, save.Envelope)
	}
	for _, job := range effects.Run {
		compute, ok := job.(session.Compute)
		if !ok {
			return nil, fmt.Errorf("an aggregator cannot run a %T", job)
		}
		run = append(run, compute)
	}
	if len(more) == 0 {
		return run, nil
	}
	return run, a.board.Append(more)
}
