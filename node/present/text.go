package present

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cosketch/cosketch/node/plain"
	"github.com/cosketch/cosketch/protocol/block"
)

// Width is the maximum width of text for people, in columns.
const Width = 100

// mostRows bounds the rows of one table in text.
const mostRows = 20

// Text writes blocks for a terminal, in lines of at most Width columns. It leaves out figures and
// folded details.
func Text(w io.Writer, blocks []block.Block) {
	indent, after := "", block.Block(nil)
	for _, b := range blocks {
		switch b := b.(type) {
		case block.Heading:
			if after != nil {
				fmt.Fprintln(w)
			}
			writeHeading(w, b)
			indent = "  "
		case block.Checks:
			if _, ok := after.(block.Table); ok {
				fmt.Fprintln(w)
			}
			for _, one := range b.Items {
				hangingIndent(w, "  "+one.Verdict+" ", one.Text)
				hangingIndent(w, "       → ", one.Fix)
			}
		case block.Text:
			before, follows := after.(block.Text)
			if _, ok := after.(block.Checks); ok || follows && b.Lead != "" && b.Tone == block.Warn && before.Tone != block.Warn {
				fmt.Fprintln(w) // what the next checks are about; what is not to be missed
			}
			text := b.Text
			if b.Lead != "" {
				text = strings.ToUpper(b.Lead) + ": " + text
			}
			Paragraph(w, indent, text)
		case block.List:
			for _, item := range b.Items {
				Item(w, indent, item)
			}
		case block.Command:
			for _, text := range b.Lines {
				fmt.Fprintln(w, indent+"  "+line(text))
			}
		case block.Facts:
			for _, f := range b.Items {
				Paragraph(w, indent, strings.TrimSuffix(f.Name+": "+f.Text+", "+f.More, ", "))
			}
		case block.Table:
			if b.Folded {
				continue
			}
			if _, headed := after.(block.Heading); headed {
				b.Caption = ""
			} else if after != nil {
				fmt.Fprintln(w)
			}
			writeTable(w, b)
		case block.Fold, block.Figure:
			continue
		default:
			panic(fmt.Sprintf("present: a block of type %T", b)) // unreachable: package block has no other
		}
		after = b
	}
}

func writeHeading(w io.Writer, h block.Heading) {
	h.Text = strings.ToUpper(h.Text)
	text := h.Title()
	if h.Says != "" {
		text += ": " + h.Says
	}
	Paragraph(w, "", text)
}

// writeTable writes the first rows of a table, then each reason for an undefined number once, then
// what it left out.
func writeTable(w io.Writer, t block.Table) {
	if t.Caption != "" {
		Paragraph(w, "  ", t.Caption+":")
	}
	out, aside := &Table{}, 0
	for _, c := range t.Columns {
		if c.PageOnly {
			aside++
			continue
		}
		out.column(c)
	}
	var undefined []string
	rows := t.Rows
	if !t.AllRows {
		rows = rows[:min(len(rows), mostRows)]
	}
	for _, row := range rows {
		var cells []string
		for i, cell := range row {
			if t.Columns[i].PageOnly {
				continue
			}
			if cells = append(cells, cell.Text); cell.Undefined != "" && !slices.Contains(undefined, cell.Undefined) {
				undefined = append(undefined, cell.Undefined)
			}
		}
		out.Add(cells...)
	}
	out.Write(w)
	for _, why := range undefined {
		Paragraph(w, "  ", "undefined: "+why)
	}
	if t.Omitted(len(rows)) > 0 {
		Paragraph(w, "  ", "… "+shown(t, len(rows))+"; --format json prints all")
	}
	if aside > 1 {
		Paragraph(w, "  ", fmt.Sprintf("… %d of %d columns; a page has more", len(t.Columns)-aside, len(t.Columns)))
	}
}

// joined replaces the characters that keep words together on a page; a terminal would show them.
var joined = strings.NewReplacer("\u00a0", " ", "\u2060", "")

// line returns text in one line, without characters that a terminal acts on.
func line(text string) string { return plain.Line(joined.Replace(text)) }

// Table is rows of cells under a header, in aligned columns.
type Table struct {
	head  []string
	right []bool // columns aligned to the right: numbers
	whole []bool // columns that are never shortened
	rows  [][]string
}

// NewTable makes a table from its header. A ">" before a name aligns that column to the right.
func NewTable(columns ...string) *Table {
	t := &Table{}
	for _, c := range block.Headed(columns...) {
		t.column(c)
	}
	return t
}

func (t *Table) column(c block.Column) {
	t.head, t.right, t.whole = append(t.head, c.Name), append(t.right, c.Number), append(t.whole, c.NoTruncate)
}

func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Write prints the table, indented by two columns. If it would be wider than Width, the widest text
// is shortened; numbers stay whole.
func (t *Table) Write(w io.Writer) {
	var all [][]string
	for _, row := range append([][]string{t.head}, t.rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = line(cell)
		}
		all = append(all, cells)
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
	for i, n := range widths {
		if !t.whole[i] {
			total += 2 + n
		}
	}
	for ; total > Width; total-- {
		widest := -1
		for i, n := range widths {
			if !t.right[i] && !t.whole[i] && n > least && (widest < 0 || n > widths[widest]) {
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

// shorten cuts out the middle of text longer than most.
func shorten(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	tail := most / 3
	return string(runes[:most-1-tail]) + "…" + string(runes[len(runes)-tail:])
}

// Paragraph prints text in lines of at most Width columns, each indented.
func Paragraph(w io.Writer, indent, text string) { paragraph(w, indent, indent, text) }

// Item prints a list item; its further lines are indented to its first word.
func Item(w io.Writer, indent, text string) { paragraph(w, indent+"- ", indent+"  ", text) }

// paragraph has one indent for the first line and another of equal length for the rest. Runs of
// spaces stay, since they may be in a name.
func paragraph(w io.Writer, indent, rest, text string) {
	if text = strings.TrimSpace(line(text)); text != "" {
		io.WriteString(w, block.Wrap(indent, rest, text, Width))
	}
}

// hangingIndent prints a text after a label, with the further lines indented to match. It prints nothing
// without a text.
func hangingIndent(w io.Writer, label, text string) {
	if text != "" {
		label = line(label)
		paragraph(w, label, strings.Repeat(" ", utf8.RuneCountInString(label)), text)
	}
}

// Fold breaks lines between words at a maximum width. Lines that begin with a space are
// preformatted and stay. Long words, such as paths, are not broken.
func Fold(text string, columns int) string {
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
