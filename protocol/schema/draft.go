package schema

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cosketch/cosketch/protocol/block"
)

// Widths of drafted files, in characters.
const (
	draftWidth   = 100
	draftComment = 33 // where comments on keys begin
)

// Draft returns a file that shows every key and sets none, so it reads like an empty file. Removing
// the # in front of a key sets it.
func Draft(head string, rows []Row) string {
	d := &draft{}
	d.WriteString(Comment(head))
	for _, row := range rows {
		d.WriteString("\n")
		if row.Inner == nil {
			d.WriteString(Comment(row.comment()))
			d.WriteString("#" + row.Name + ": " + row.example() + "\n")
			continue
		}
		d.WriteString(Comment(row.Says))
		d.WriteString(row.Name + ":\n")
		d.inner("  ", row)
	}
	return d.String()
}

type draft struct{ strings.Builder }

// inner writes the keys below a row, or an entry for each name of its example.
func (d *draft) inner(indent string, row Row) {
	if row.Each == "" {
		d.rows(indent, row.Inner)
		return
	}
	names := []string{""}
	for _, key := range row.Inner {
		if !slices.Contains(names, key.Beside) {
			names = append(names, key.Beside)
		}
	}
	for i, name := range names {
		if i > 0 {
			d.WriteString("\n")
		}
		entry := slices.DeleteFunc(slices.Clone(row.Inner), func(key Row) bool { return key.Beside != name })
		if name == "" {
			name = row.Example
		}
		d.WriteString("#" + indent + name + ":\n")
		d.rows(indent+"  ", entry)
	}
}

func (d *draft) rows(indent string, rows []Row) {
	for _, row := range rows {
		line := "#" + indent + row.Name + ":"
		if row.Inner == nil && row.example() == "" { // an alternative that excludes another key
			d.WriteString("#" + indent + Comment("or "+row.Name+": "+row.comment()))
			continue
		}
		if row.Inner == nil || row.Example != "" && row.Each == "" {
			d.commented(line+" "+row.example(), row.comment())
			continue
		}
		d.commented(line, row.Says)
		d.inner(indent+"  ", row)
	}
}

// example returns the value that a drafted file shows.
func (row Row) example() string {
	if row.Example != "" {
		return row.Example
	}
	return row.Default
}

// comment returns what a draft says of a key beside the value shown.
func (row Row) comment() string {
	text := row.Says
	if !sameValue(row.example(), row.Default) {
		text = row.means("; ", "default: ")
	}
	switch {
	case row.Words && text == "":
		return row.Is
	case row.Words:
		return row.Is + "; " + text
	}
	return text
}

// sameValue reports whether two values differ only in their quotes.
func sameValue(a, b string) bool { return strings.ReplaceAll(a, `"`, "") == b }

// commented writes a line with a comment behind it, continued on the lines below.
func (d *draft) commented(line, comment string) {
	margin := "#" + strings.Repeat(" ", draftComment-2)
	if utf8.RuneCountInString(line)+len(" # ")+utf8.RuneCountInString(comment) > draftWidth && utf8.RuneCountInString(line) >= draftComment {
		d.WriteString(line + "\n")
		line = margin
	}
	if comment == "" {
		d.WriteString(line + "\n")
		return
	}
	begin := line + strings.Repeat(" ", max(draftComment-utf8.RuneCountInString(line), 1)) + "# "
	rest := margin + strings.Repeat(" ", draftComment-len(margin)) + "# "
	text := block.Wrap("", "", strings.ReplaceAll(comment, "`", ""), draftWidth-draftComment-len("# "))
	d.WriteString(begin + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+rest) + "\n")
}

// Comment returns a text as comment lines, without backticks.
func Comment(text string) string {
	return block.Wrap("# ", "# ", strings.ReplaceAll(text, "`", ""), draftWidth)
}
