package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/schema"
)

// header holds the column names of a file or a query, in order.
type header struct {
	file  string
	line  int64 // 0 if the names are not on a line
	names []string

	delimiter Delimiter // of a CSV file
	query     bool      // the names come from a query's result
}

func (h header) fail(column, message, hint string) *Error {
	return &Error{File: h.file, Line: h.line, Column: column, Message: message, Hint: hint}
}

// locate returns the position of every wanted name.
func (h header) locate(wanted []string) ([]int, error) {
	positions := make([]int, len(wanted))
	var absent []string
	for i, name := range wanted {
		positions[i] = slices.Index(h.names, name)
		if positions[i] < 0 {
			absent = append(absent, name)
			continue
		}
		if slices.Contains(h.names[positions[i]+1:], name) {
			if h.query {
				return nil, h.fail(name, "the query gives this name to two columns", "name one of them otherwise, with AS")
			}
			return nil, h.fail(name, "the header has this name twice", "rename one of the two columns")
		}
	}
	if len(absent) == 0 {
		return positions, nil
	}
	e := h.fail("", "no column "+quoted(absent, ", "), h.absenceHint(wanted, absent))
	e.Err = &AbsentError{absent, h.names}
	return nil, e
}

// absenceHint lists the file's columns if at least one is known to be a name: otherwise a CSV file
// without a header would reveal its first record. Names that are not on a line are certain to be
// names.
func (h header) absenceHint(wanted, absent []string) string {
	isName := func(cell string) bool {
		return slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, cell) })
	}
	if h.line > 0 && !slices.ContainsFunc(h.names, isName) {
		said := fmt.Sprintf("the first row must name the columns; none of its %d fields is a name that is looked for", len(h.names))
		if len(h.names) == 1 {
			said += fmt.Sprintf("; if no %s stands between values, name another csv: {delimiter: …} in the site file", h.delimiter)
		}
		return said
	}
	var hint strings.Builder
	if close := schema.Closest(absent[0], h.names); close != "" {
		fmt.Fprintf(&hint, "did you mean %q? ", close)
	}
	const most = 20
	subject := "the file"
	if h.query {
		subject = "the query"
	}
	hint.WriteString(subject + " has " + quoted(h.names[:min(len(h.names), most)], ", "))
	if len(h.names) > most {
		fmt.Fprintf(&hint, " and %d more", len(h.names)-most)
	}
	return hint.String()
}
