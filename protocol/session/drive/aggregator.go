package drive

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// Board stores a study's board for its aggregator.
type Board interface {
	// Append durably appends all envelopes. After an error it is unknown how many were appended,
	// and the Aggregator must not be used any more.
	Append([]protocol.Verified) error
}

type aggregator = session.Aggregator

// Aggregator is an aggregator's machine with the board that it keeps. It is not safe for concurrent
// use.
type Aggregator struct {
	*aggregator
	board  Board
	broken error
}

// OpenAggregator makes the machine from the stored board. Send Collected events for completely
// stored releases next, and only then the time: see session.Aggregator.Restore.
func OpenAggregator(c session.AggregatorConfig, stored []protocol.Verified, board Board) (*Aggregator, error) {
	machine, err := session.NewAggregator(c)
	if err != nil {
		return nil, err
	}
	return &Aggregator{aggregator: machine, board: board}, machine.Restore(stored)
}

// Step processes an event and puts on the board what the machine asks for. It returns what has to
// be computed in run, and in refused why the event was refused; a refused event may still have had
// effects. Broken is an error of the board.
func (a *Aggregator) Step(event session.AggregatorEvent) (run []session.Compute, refused, broken error) {
	if a.broken != nil {
		return nil, nil, a.broken
	}
	effects, refused := a.aggregator.Step(event)
	run, err := a.perform(effects)
	if err != nil {
		a.broken = fmt.Errorf("the machine is ahead of its board: %w", err)
		return nil, nil, err
	}
	return run, refused, nil
}

func (a *Aggregator) perform(effects session.Effects) (run []session.Compute, err error) {
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
