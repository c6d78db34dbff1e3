package dataset

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cosketch/cosketch/node/spelling"
)

// readHeader reads the first row and finds the schema's columns in it.
func (r *Reader) readHeader() error {
	r.source.newRecord()
	row, err := r.csv.Read()
	if err == io.EOF {
		return r.fail(0, "", "no header: the file holds blank lines only", "")
	}
	if err != nil {
		return r.syntax(err, len(row))
	}
	r.line, _ = r.csv.FieldPos(0)
	names := make([]string, len(row))
	for i, cell := range row {
		if !utf8.ValidString(cell) {
			return r.fail(r.line, "", "header is not valid UTF-8", hintUTF8)
		}
		names[i] = cleanName(cell)
	}
	if len(names) == 1 {
		for _, separator := range []struct{ mark, word string }{{";", "semicolons"}, {"\t", "tabs"}, {"|", "bars"}} {
			if strings.Contains(names[0], separator.mark) {
				return r.fail(r.line, "", "fields separated by "+separator.word, "save the file with commas between the fields")
			}
		}
	}
	wanted := slices.Clone(r.schema.ID)
	for _, f := range r.schema.Fields {
		wanted = append(wanted, f.Header)
	}
	positions, err := r.locate(names, wanted)
	if err != nil {
		return err
	}
	r.ids = positions[:len(r.schema.ID)]
	for i, f := range r.schema.Fields {
		r.columns = append(r.columns, newColumn(f, positions[len(r.schema.ID)+i]))
	}
	return nil
}

// locate returns the position of every wanted name.
func (r *Reader) locate(names, wanted []string) ([]int, error) {
	positions := make([]int, len(wanted))
	var absent []string
	for i, name := range wanted {
		positions[i] = slices.Index(names, name)
		if positions[i] < 0 {
			absent = append(absent, name)
			continue
		}
		if slices.Contains(names[positions[i]+1:], name) {
			return nil, r.fail(r.line, name, "the header has this name twice", "rename one of the two columns")
		}
	}
	if len(absent) == 0 {
		return positions, nil
	}
	return nil, r.fail(r.line, "", "no column "+quoted(absent, ", "), absenceHint(names, wanted, absent))
}

// absenceHint lists the file's columns, if at least one is known to be a name:
// a file without a header would show its first record otherwise.
func absenceHint(names, wanted, absent []string) string {
	isName := func(cell string) bool {
		return slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, cell) })
	}
	if !slices.ContainsFunc(names, isName) {
		return fmt.Sprintf("the first row must name the columns; none of its %d fields is a name that is looked for", len(names))
	}
	var hint strings.Builder
	if close := spelling.Closest(absent[0], names); close != "" {
		fmt.Fprintf(&hint, "did you mean %q? ", close)
	}
	const most = 20
	hint.WriteString("the file has " + quoted(names[:min(len(names), most)], ", "))
	if len(names) > most {
		fmt.Fprintf(&hint, " and %d more", len(names)-most)
	}
	return hint.String()
}

func quoted(names []string, separator string) string {
	q := make([]string, len(names))
	for i, name := range names {
		q[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(q, separator)
}
