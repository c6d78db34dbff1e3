package node

import (
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"

	"github.com/cosketch/cosketch/protocol"
)

// A mistake of this program at one study must cost that study alone, and for as long as it lasts.

// PanicError is a panic while a study was served. What it said may hold values of somebody's data,
// so that it goes nowhere.
type PanicError struct{ what string }

func (e *PanicError) Error() string {
	return "internal error: " + e.what + " (a mistake of this program: the log has the stack, which whoever mends it wants to see)"
}

// Recovered logs what recover returned, and makes an error of it.
func Recovered(logger *slog.Logger, id protocol.StudyID, p any) error {
	what := PanicText(p)
	logger.Error("internal error", "study", id.Short(), "panic", what, "stack", string(debug.Stack()))
	return &PanicError{what}
}

// PanicText is what the runtime says, and of other panics the type alone.
func PanicText(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a panic of type %T", p)
}
