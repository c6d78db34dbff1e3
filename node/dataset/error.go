package dataset

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Error says what is wrong with the data, where, and what to do about it. None of its fields holds
// a value or a record id.
type Error struct {
	File    string // as given to Open, or the database without secrets
	Line    int64  // of a CSV file's text, from 1, counting the header; 0 for the file as a whole
	Row     int64  // of a Parquet file or a query, from 1; 0 for the whole
	Column  string // the column's name in the file; empty for the whole line
	Message string // what was found or expected
	Hint    string // what to do; may be empty
	Err     error  // the cause, or nil
}

// Messages that several kinds of source use.
const (
	cannotOpen = "cannot be opened"
	cannotRead = "cannot be read"
	queryFails = "the query fails"
)

// Error returns all parts on one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "reading %s", e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Row > 0 {
		fmt.Fprintf(&b, ": row %d", e.Row)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ": column %q", e.Column)
	}
	fmt.Fprintf(&b, ": %s", e.Message)
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

func (e *Error) Fail() *fail.Error { return fail.DataFile.Fail().With(e.Hint) }

// Unwrap returns the cause, so that errors.Is(err, fs.ErrNotExist) works.
func (e *Error) Unwrap() error { return e.Err }

// AbsentError is the cause of an Error about columns that the data lack. Header is the row searched
// for column names. It is for the data's owner only: in a CSV file without a header it is the first
// record.
type AbsentError struct{ Columns, Header []string }

func (e *AbsentError) Error() string { return "no column " + quoted(e.Columns, ", ") }

func (e *AbsentError) Fail() *fail.Error { return fail.NoColumn.Fail() }

func quoted(names []string, separator string) string {
	q := make([]string, len(names))
	for i, name := range names {
		q[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(q, separator)
}
