// Package fail is the catalogue of errors on which something depends: an exit code, what a
// person is told to do, or a decision of a caller. Every other error says what was being done
// and wraps its cause.
//
// A row of the catalogue has an id, an exit code, a sentence and a remedy. An error has its row
// in one of three ways. An ID is itself an error, to be wrapped like a sentinel: it says the
// sentence. New and Of make an error of it that says values in the sentence, and then the
// remedy. A type with fields has a method Fail, which makes the same of its fields.
//
// Whoever shows an error asks Find what the catalogue says of it, and Text for what to print.
package fail

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ID names an error of the catalogue. It stays: programs decide on it.
type ID string

// Row is what is known of an error.
type Row struct {
	ID   ID
	Exit Exit
	Says string // a format with numbered arguments, such as %[1]s
	Fix  string // what to do, with the same arguments; empty where that depends on the case, and the error says it

	// Yields reports a row, of an error that this one wraps, which says better what happened;
	// nil: none does.
	Yields func(Row) bool
}

// row is the row of an id.
func (id ID) row() Row {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.ID == id })
	if i < 0 {
		return Row{ID: id, Exit: Internal, Says: string(id)}
	}
	return rows[i]
}

// Error is the sentence, with … in the place of values.
func (id ID) Error() string { return Generic(id.row().Says) }

// Fail makes an error of the id that has no text: what a type with a text of its own is.
func (id ID) Fail() *Error { return &Error{ID: id} }

// Remedy is the row's, with … in the place of values.
func (id ID) Remedy() string { return Generic(id.row().Fix) }

// New makes an error that says the sentence with its arguments, and the remedy.
func (id ID) New(args ...any) *Error { return id.Of(nil, args...) }

// Of is New where there is a cause, which stands between sentence and remedy.
func (id ID) Of(cause error, args ...any) *Error {
	r := id.row()
	return &Error{ID: id, says: fill(r.Says, args), hint: fill(r.Fix, args), cause: cause}
}

// Error is an error of the catalogue.
type Error struct {
	ID ID

	says, hint string
	cause      error
}

// With gives the error a remedy of its own in the place of the row's.
func (e *Error) With(remedy string) *Error {
	own := *e
	own.hint = remedy
	return &own
}

// Error says what is wrong, the cause, and what to do.
func (e *Error) Error() string {
	text := e.says
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text + bracket(e.hint)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Is reports the error's own id.
func (e *Error) Is(target error) bool { return target == error(e.ID) }

// fill puts arguments into a format, which may want none of them.
func fill(format string, args []any) string {
	if len(args) == 0 || !strings.Contains(format, "%") {
		return Generic(format)
	}
	return fmt.Sprintf(format, args...)
}

var argument = regexp.MustCompile(`%[.0-9]*\[\d\][a-z]`)

// Generic is a sentence or a remedy of the catalogue with … in the place of arguments.
func Generic(format string) string { return argument.ReplaceAllString(format, "…") }

func bracket(hint string) string {
	if hint == "" {
		return ""
	}
	return " (" + hint + ")"
}
