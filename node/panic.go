package node

import (
	"fmt"
	"log/slog"
	"runtime"

	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// A defect of this program in one study must affect only that study, and only while it lasts.

// PanicError is a panic while a study was served. The panic's own message may hold values of
// somebody's data, so it is not passed on.
type PanicError struct{ what string }

func (e *PanicError) Error() string { return e.Fail().Error() }

func (e *PanicError) Fail() *fail.Error { return fail.Panic.New(e.what) }

// Recovered logs a value returned by recover and makes an error of it.
func Recovered(logger *slog.Logger, id protocol.StudyID, p any) error {
	what, stack := PanicText(p)
	logger.Error("internal error", "study", id.Short(), "panic", what, "stack", stack)
	return &PanicError{what}
}

// PanicText returns the message of a runtime error, or only the type of any other panic, and the
// stack of the panicking goroutine. Call it from the deferred function that recovered.
func PanicText(p any) (what, stack string) {
	said, stack := parallel.Recovered(p)
	if err, ok := said.(runtime.Error); ok {
		return err.Error(), stack
	}
	return fmt.Sprintf("a panic of type %T", said), stack
}
