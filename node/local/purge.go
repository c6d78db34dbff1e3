package local

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

// NotEndedError refuses to purge a study that may still need its sketches.
type NotEndedError struct {
	Study protocol.StudyID
	Until protocol.Instant
}

func (e *NotEndedError) Error() string { return e.Fail().Error() }

// Fail returns the error's entry in the catalogue.
func (e *NotEndedError) Fail() *fail.Error { return fail.NotEnded.New(e.Study.Short(), e.Until) }

// Purge removes a study's sketches from an aggregator's state; the aggregator may be serving. It
// returns a *NotEndedError while the study may need them.
func Purge(st *store.Store, s *study.Study, now protocol.Instant) (freed int64, err error) {
	e, err := EndingOf(st, s)
	if err != nil {
		return 0, err
	}
	if !e.Over && now < e.At {
		return 0, &NotEndedError{s.ID, e.At}
	}
	return st.Purge(s.ID, now)
}

// Ending is when a study takes no more releases, and no more queries.
type Ending struct {
	At   protocol.Instant // the time; if the board does not say, the study's last date
	Over bool             // the board says that it has ended, whatever the date
}

// EndingOf reads from an aggregator's board whether a study was stopped or closed, and otherwise
// uses its dates. Queries, possible only in a study with a result, have a date of their own.
func EndingOf(st *store.Store, s *study.Study) (Ending, error) {
	last := Ending{At: max(s.Deadline, s.LateUntil)}
	if s.Queries.Releases > 0 {
		last.At = max(last.At, s.NewRecords)
	}
	board, err := stored.Board(st, s.ID)
	var damaged *stored.DamagedError
	switch {
	case errors.As(err, &damaged): // the board can say nothing more
		_, last.Over = stored.Abandoned(st, s.ID)
		return last, nil
	case err != nil:
		return Ending{}, err
	}
	signer, err := protocol.NewSigner(st.Identity())
	if err != nil {
		return Ending{}, err
	}
	machine, err := session.NewAggregator(session.AggregatorConfig{Study: s, Signer: signer})
	if err != nil {
		return Ending{}, err
	}
	if err := machine.Restore(board); err != nil {
		return Ending{}, fmt.Errorf("reading the board of study %s: %w", s.ID.Short(), err)
	}
	at, ended := machine.Ended()
	_, stopped := machine.Stopped()
	switch {
	case !ended || s.Queries.Releases > 0 && !stopped:
		return last, nil
	case at == 0:
		return Ending{At: last.At, Over: true}, nil
	}
	return Ending{At: at, Over: true}, nil
}
