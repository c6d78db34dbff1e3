// Package fail is the catalogue of the errors that matter to somebody: they determine an exit code,
// what a person is told to do, or a decision of a caller. Every other error says what was being
// done and wraps its cause.
//
// A row of the catalogue has an id, an exit code, a sentence and a remedy. An error gets its row in
// one of three ways. An ID is itself an error, to be wrapped like a sentinel; its text is the
// sentence. New and Of make an error whose text is the sentence with values filled in, then the
// remedy. A type with fields has a method Fail, which returns such an error.
//
// To show an error, use Find for its catalogue entry and Text for the text to print.
package fail

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ID names an error of the catalogue. It must not change: programs depend on it.
type ID string

// Row is a row of the catalogue.
type Row struct {
	ID      ID
	Exit    Exit
	Message string // a format with numbered arguments, such as %[1]s
	Remedy  string // what to do, with the same arguments; empty if that depends on the case and the error says it

	// DefersTo reports whether the row of a wrapped error describes better what happened, so that it
	// takes precedence; nil: none does.
	DefersTo func(Row) bool
}

// row returns the row of an id.
func (id ID) row() Row {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.ID == id })
	if i < 0 {
		return Row{ID: id, Exit: Internal, Message: string(id)}
	}
	return rows[i]
}

// Error returns the sentence, with … in place of values.
func (id ID) Error() string { return Template(id.row().Message) }

// Fail returns an error of the id without text, for types that have a text of their own.
func (id ID) Fail() *Error { return &Error{ID: id} }

// Remedy returns the row's remedy, with … in place of values.
func (id ID) Remedy() string { return Template(id.row().Remedy) }

// New returns an error whose text is the sentence with its arguments, then the remedy.
func (id ID) New(args ...any) *Error { return id.Of(nil, args...) }

// Of is New with a cause, which is printed between sentence and remedy.
func (id ID) Of(cause error, args ...any) *Error {
	r := id.row()
	return &Error{ID: id, says: fill(r.Message, args), hint: fill(r.Remedy, args), cause: cause}
}

// Error is an error of the catalogue.
type Error struct {
	ID ID

	says, hint string
	cause      error
}

// With returns the error with this remedy in place of the row's.
func (e *Error) With(remedy string) *Error {
	own := *e
	own.hint = remedy
	return &own
}

// Error returns the sentence, the cause, and the remedy.
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

// fill puts arguments into a format, which may have no verbs.
func fill(format string, args []any) string {
	if len(args) == 0 || !strings.Contains(format, "%") {
		return Template(format)
	}
	return fmt.Sprintf(format, args...)
}

var argument = regexp.MustCompile(`%[.0-9]*\[\d\][a-z]`)

// Template returns a sentence or a remedy of the catalogue with … in place of arguments.
func Template(format string) string { return argument.ReplaceAllString(format, "…") }

func bracket(hint string) string {
	if hint == "" {
		return ""
	}
	return " (" + hint + ")"
}
