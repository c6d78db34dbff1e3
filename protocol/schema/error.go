package schema

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Error is one error in a file.
type Error struct {
	Line, Column int    // 1-based; the column counts characters; 0 if there is no file
	Key          string // path of the key, as in parties[1].id; empty if no key is at fault
	Message      string
	Hint         string  // what to do about it; may be empty
	Cause        error   // underlying error, if callers know it; may be nil
	ID           fail.ID // empty: that of study files
}

// Unwrap returns the cause, for errors.As and errors.Is.
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

// Fail returns the error of the catalogue.
func (e *Error) Fail() *fail.Error { return cmp.Or(e.ID, fail.StudyFile).Fail().With(e.Hint) }

// MaxErrors limits the errors that one reading collects. So many errors are probably one mistake
// made many times.
const MaxErrors = 20

// Errors are all errors found by one reading, in the file's order if it is known.
type Errors []*Error

func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Fail returns the error of the catalogue.
func (es Errors) Fail() *fail.Error { return fail.StudyFile.Fail() }

// Unwrap returns each single error, for errors.As and errors.Is.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}
