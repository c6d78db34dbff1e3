package schema

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Error is one thing wrong in a file.
type Error struct {
	Line, Column int    // 1-based; the column counts characters; 0 for what stands in no file
	Key          string // path of the key, as in parties[1].id; empty where no key is at fault
	Message      string
	Hint         string  // what to do about it; may be empty
	Cause        error   // what Message tells of, where callers know it; may be nil
	ID           fail.ID // that of study files where it is empty
}

// Unwrap gives errors.As and errors.Is the cause.
func (e *Error) Unwrap() error { return e.Cause }

func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, column %d: ", e.Line, e.Column)
	}
	if e.Key != "" {
		fmt.Fprintf(&b, "%s: ", e.Key)
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

// Fail is what the catalogue says of it.
func (e *Error) Fail() *fail.Error { return cmp.Or(e.ID, fail.StudyFile).Fail().With(e.Hint) }

// MaxErrors bounds how many errors one reading collects; who has that many has
// made one mistake many times.
const MaxErrors = 20

// Errors is everything that one reading found wrong, in the file's order where the
// order is known.
type Errors []*Error

func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Fail is what the catalogue says of it.
func (es Errors) Fail() *fail.Error { return fail.StudyFile.Fail() }

// Unwrap gives errors.As and errors.Is each single error.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}
