package fail

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// Found is what the catalogue says of an error.
type Found struct {
	ID   ID
	Exit Exit
	Hint string // what to do; may be empty

	shown bool // the error's own text has the hint
}

// Find looks an error up. Where errors of the catalogue wrap others of it, the outermost
// counts, unless its row yields to one further in; of errors that are wrapped side by side, the
// first. An exit code that Exit.Of gave counts in the place where it was given. The remedy is
// the outermost one that there is.
func Find(err error) Found {
	if err == nil {
		return Found{ID: codeID(OK)}
	}
	all := marks(err, nil)
	out, named := Found{ID: codeID(Internal), Exit: Internal}, false
	if i := decisive(all); i >= 0 {
		out.ID, out.Exit, named = all[i].row.ID, all[i].row.Exit, !all[i].exitOnly
		if inner := all[i+1:]; !named && decisive(inner) >= 0 {
			out.ID = inner[decisive(inner)].row.ID
		}
	}
	if i := slices.IndexFunc(all, func(m mark) bool { return m.hint != "" }); i >= 0 {
		out.Hint, out.shown = all[i].hint, all[i].shown
	}
	return out
}

// Text is what an error says, and what to do where its own text does not say that.
func Text(err error) string {
	found := Find(err)
	if found.shown {
		return err.Error()
	}
	return err.Error() + bracket(found.Hint)
}

// Has reports whether an error, or one that it wraps, is of an id.
func Has(err error, id ID) bool {
	return err != nil && slices.ContainsFunc(marks(err, nil), func(m mark) bool { return !m.exitOnly && m.row.ID == id })
}

// codeID is the id of what has an exit code alone.
func codeID(x Exit) ID {
	for _, c := range Codes() {
		if c.Exit == x {
			return c.ID
		}
	}
	return codeID(Internal)
}

// mark is one error of the catalogue among those that an error is made of.
type mark struct {
	row      Row
	exitOnly bool // Exit.Of: the id is that of the code
	hint     string
	shown    bool
}

// decisive is the place of the mark that counts, or -1.
func decisive(all []mark) int {
	if len(all) == 0 {
		return -1
	}
	at := 0
	for all[at].row.Yields != nil {
		further := slices.IndexFunc(all[at+1:], func(m mark) bool { return all[at].row.Yields(m.row) })
		if further < 0 {
			break
		}
		at += 1 + further
	}
	return at
}

// failing is an error with a row.
type failing interface{ Fail() *Error }

// named is an error with a row, of a package that stands below this one.
type named interface{ FailID() string }

// marks adds those of an error, and then of what it wraps.
func marks(err error, out []mark) []mark {
	switch e := err.(type) {
	case *Error:
		out = append(out, e.mark())
	case ID:
		out = append(out, e.Fail().mark())
	case *coded:
		out = append(out, mark{row: Row{ID: codeID(e.exit), Exit: e.exit}, exitOnly: true})
	case failing:
		out = append(out, e.Fail().mark())
	case named:
		out = append(out, ID(e.FailID()).Fail().mark())
	default:
		if id, ok := foreign(err); ok {
			out = append(out, id.Fail().mark())
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			out = marks(inner, out)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if inner != nil {
				out = marks(inner, out)
			}
		}
	}
	return out
}

// mark is the error as one of the marks of those that wrap it. One without a text has the row's
// remedy, which nobody has said yet.
func (e *Error) mark() mark {
	m := mark{row: e.ID.row(), hint: e.hint, shown: e.hint != ""}
	if e.says == "" && e.hint == "" {
		m.hint = e.ID.Remedy()
	}
	return m
}

// foreign is the id of an error of the operating system's or of the standard library's. They are
// known here alone.
func foreign(err error) (ID, bool) {
	switch err {
	case context.Canceled:
		return Cancelled, true
	case context.DeadlineExceeded:
		return OutOfTime, true
	case fs.ErrPermission:
		return NotPermitted, true
	}
	number, ok := err.(syscall.Errno)
	switch {
	case !ok:
	case Errno(number, syscall.ENOSPC, syscall.EDQUOT):
		return DiskFull, true
	case Errno(number, syscall.EROFS):
		return DiskReadOnly, true
	case Errno(number, syscall.EIO):
		return DiskFails, true
	case errors.Is(number, fs.ErrPermission), Errno(number, syscall.EACCES):
		return NotPermitted, true
	}
	return "", false
}
