package aggregator

import (
	"context"
	"errors"
)

// executor lets others work on what one goroutine owns: they hand in functions, and it runs one after
// the other.
type executor struct {
	work      chan func() error // an error ends the service: the machine is ahead of the store
	ended     chan struct{}     // closed when the owner runs no more
	settled   chan struct{}     // closed when all that had arrived before is checked; until then the machine is not told the time
	dismissed chan struct{}     // closed after it, when the study can be taken up again
}

func newTurns() executor {
	return executor{work: make(chan func() error), ended: make(chan struct{}), settled: make(chan struct{}), dismissed: make(chan struct{})}
}

var errGone = errors.New("the study is not being served any more")

func (t executor) isSettled() bool {
	select {
	case <-t.settled:
		return true
	default:
		return false
	}
}

// isOver reports whether the owner's goroutine is ending.
func (t executor) isOver() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// doSettled is do, after settled is closed.
func (t executor) doSettled(ctx context.Context, f func() error) error {
	select {
	case <-t.settled:
		return t.do(ctx, f)
	case <-t.ended:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
}

// do runs f on the goroutine that owns the machine, waits for it and returns its error. Such an
// error is one of the store's and ends the service.
func (t executor) do(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	select {
	case t.work <- func() error {
		err := f()
		done <- err
		return err
	}:
		select {
		case err := <-done:
			return err
		case <-t.ended: // f may have panicked and sent nothing
		}
		select {
		case err := <-done:
			return err
		default:
			return errGone
		}
	case <-t.ended:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
}
