package node

import (
	"fmt"
	"log/slog"
	"runtime"

	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/protocol"
)

// A mistake of this program at one study must cost that study alone, and for as long as it lasts.

// panicError is a panic while a study was served. What it said may hold values of somebody's data,
// so that it goes nowhere.
type panicError struct{ what string }

func (e *panicError) Error() string {
	return "internal error: " + e.what + " (a mistake of this program: the log has the stack, which whoever mends it wants to see)"
}

// recovered logs what recover returned, and makes an error of it.
func recovered(logger *slog.Logger, id protocol.StudyID, p any) error {
	what, stack := panicText(p)
	logger.Error("internal error", "study", id.Short(), "panic", what, "stack", stack)
	return &panicError{what}
}

// panicText is what the runtime says, and of other panics the type alone; and the stack of who
// panicked. The deferred function that recovered calls it.
func panicText(p any) (what, stack string) {
	said, stack := parallel.Recovered(p)
	if err, ok := said.(runtime.Error); ok {
		return err.Error(), stack
	}
	return fmt.Sprintf("a panic of type %T", said), stack
}
