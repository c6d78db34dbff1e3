package node

import (
	"fmt"
	"log/slog"
	"runtime"

	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// A mistake of this program at one study must cost that study alone, and for as long as it lasts.

// PanicError is a panic while a study was served. What it said may hold values of somebody's data,
// so that it goes nowhere.
type PanicError struct{ what string }

func (e *PanicError) Error() string { return e.Fail().Error() }

func (e *PanicError) Fail() *fail.Error { return fail.Panic.New(e.what) }

// Recovered logs what recover returned, and makes an error of it.
func Recovered(logger *slog.Logger, id protocol.StudyID, p any) error {
	what, stack := PanicText(p)
	logger.Error("internal error", "study", id.Short(), "panic", what, "stack", stack)
	return &PanicError{what}
}

// PanicText is what the runtime says, and of other panics the type alone; and the stack of who
// panicked. The deferred function that recovered calls it.
func PanicText(p any) (what, stack string) {
	said, stack := parallel.Recovered(p)
	if err, ok := said.(runtime.Error); ok {
		return err.Error(), stack
	}
	return fmt.Sprintf("a panic of type %T", said), stack
}
