package fail

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// Found is the catalogue entry of an error.
type Found struct {
	ID   ID
	Exit Exit
	Hint string // what to do; may be empty

	shown bool // the error's own text contains the hint
}

// Find looks an error up. If errors of the catalogue wrap others of it, the outermost counts,
// unless its row yields to an inner one. Of errors wrapped side by side, the first counts. An exit
// code from Exit.Of counts at the place where it was set. The remedy is the outermost one there is.
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

// Text returns the error's text, with the remedy appended if the text does not contain it.
func Text(err error) string {
	found := Find(err)
	if found.shown {
		return err.Error()
	}
	return err.Error() + bracket(found.Hint)
}

// Has reports whether an error, or one that it wraps, has an id.
func Has(err error, id ID) bool {
	return err != nil && slices.ContainsFunc(marks(err, nil), func(m mark) bool { return !m.exitOnly && m.row.ID == id })
}

// codeID returns the id of an exit code.
func codeID(x Exit) ID {
	for _, c := range Codes() {
		if c.Exit == x {
			return c.ID
		}
	}
	return codeID(Internal)
}

// mark is one error of the catalogue in a tree of wrapped errors.
type mark struct {
	row      Row
	exitOnly bool // set by Exit.Of: the id is that of the code
	hint     string
	shown    bool
}

// decisive returns the index of the mark that counts, or -1.
func decisive(all []mark) int {
	if len(all) == 0 {
		return -1
	}
	at := 0
	for all[at].row.DefersTo != nil {
		further := slices.IndexFunc(all[at+1:], func(m mark) bool { return all[at].row.DefersTo(m.row) })
		if further < 0 {
			break
		}
		at += 1 + further
	}
	return at
}

// failing is an error with a row.
type failing interface{ Fail() *Error }

// named is an error with a row, of a package that must not import this one.
type named interface{ FailID() string }

// marks appends the marks of an error, then those of what it wraps.
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

// mark returns the error as a mark. If the error has neither text nor hint, the hint is the row's
// remedy, which is not shown yet.
func (e *Error) mark() mark {
	m := mark{row: e.ID.row(), hint: e.hint, shown: e.hint != ""}
	if e.says == "" && e.hint == "" {
		m.hint = e.ID.Remedy()
	}
	return m
}

// foreign returns the id of an error of the operating system or the standard library. Only this
// function knows them.
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
