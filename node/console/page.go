package console

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/cosketch/cosketch/node/plain"
)

// width is the greatest number of columns that text for people takes.
const width = 100

// Table is rows of cells under a header, in aligned columns.
type Table struct {
	head  []string
	right []bool // columns aligned to the right: numbers
	rows  [][]string
}

// NewTable makes a table from its header; a ">" before a name aligns that column to
// the right.
func NewTable(columns ...string) *Table {
	t := &Table{}
	for _, c := range columns {
		name, right := strings.CutPrefix(c, ">")
		t.head, t.right = append(t.head, name), append(t.right, right)
	}
	return t
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Write prints the table, indented by two columns. Where it would be wider than
// width, the widest text gives way; numbers stay whole.
func (t *Table) Write(w io.Writer) {
	var all [][]string
	for _, row := range append([][]string{t.head}, t.rows...) {
		line := make([]string, len(row))
		for i, cell := range row {
			line[i] = plain.Line(cell)
		}
		all = append(all, line)
	}
	widths := t.fit(all)
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			cell = shorten(cell, widths[i])
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.right[i] {
				cell = gap + cell
			} else {
				cell += gap
			}
			line.WriteString("  " + cell)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// fit returns the width of every column.
func (t *Table) fit(all [][]string) []int {
	const least = 5
	widths := make([]int, len(t.head))
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	total := 0
	for _, n := range widths {
		total += 2 + n
	}
	for ; total > width; total-- {
		widest := -1
		for i, n := range widths {
			if !t.right[i] && n > least && (widest < 0 || n > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// shorten cuts the middle out of what is longer than most.
func shorten(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	tail := most / 3
	return string(runes[:most-1-tail]) + "…" + string(runes[len(runes)-tail:])
}

// Paragraph prints text in lines of at most width columns, each indented.
func Paragraph(w io.Writer, indent, text string) { paragraph(w, indent, indent, text) }

// Item prints a point of a list: its further lines begin below its first word.
func Item(w io.Writer, indent, text string) { paragraph(w, indent+"- ", indent+"  ", text) }

// paragraph has one indent before the first line and another, as long, before the rest.
func paragraph(w io.Writer, indent, rest, text string) {
	line := ""
	for _, word := range strings.Fields(plain.Line(text)) {
		word = shorten(word, width-len(indent))
		if line != "" && len(indent)+utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			fmt.Fprintln(w, indent+line)
			line, indent = "", rest
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		fmt.Fprintln(w, indent+line)
	}
}

// fold breaks lines between words, where they would have more columns. Lines that begin
// with a space are laid out, and stay; so do words, however long: they may be paths.
func fold(text string, columns int) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, " ") {
			out = append(out, line)
			continue
		}
		for utf8.RuneCountInString(line) > columns {
			room := len(string([]rune(line)[:columns+1]))
			at := strings.LastIndexByte(line[:room], ' ')
			if at < 0 {
				at = strings.IndexByte(line, ' ')
			}
			if at < 0 {
				break
			}
			out, line = append(out, line[:at]), line[at+1:]
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
