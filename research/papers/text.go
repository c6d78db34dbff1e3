package papers

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/block"
)

// Text prints tables as text.
func Text(w io.Writer, tables []Table) error {
	var out strings.Builder
	for i, t := range tables {
		if i > 0 {
			out.WriteString("\n\n")
		}
		t.write(&out)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (t Table) write(out *strings.Builder) {
	fmt.Fprintf(out, "%s — %s\n", t.Name, t.Source)
	if t.Missing != "" {
		paragraph(out, "skipped: "+t.Missing)
		return
	}
	paragraph(out, t.Question)
	paragraph(out, t.Setting)
	out.WriteString("\n")
	writeRows(out, t.rows())
	out.WriteString("\n")
	said := map[string]bool{}
	for _, l := range t.Lines {
		if l.Because != "" && !said[l.Because] {
			said[l.Because] = true
			paragraph(out, "ok: "+l.Because+".")
		}
	}
	for _, note := range t.Notes {
		paragraph(out, note)
	}
	for _, p := range t.Played {
		out.WriteString("\n")
		paragraph(out, "On running nodes, once. "+p.Study)
		out.WriteString("\n")
		writeRows(out, p.rows())
	}
	if b := t.Beyond; b != nil {
		out.WriteString("\n")
		paragraph(out, "Beyond the source. "+b.Statistic)
		out.WriteString("\n")
		writeRows(out, b.rows())
		out.WriteString("\n")
		for _, note := range b.Notes {
			paragraph(out, note)
		}
	}
}

func verdict(holds bool) string {
	if holds {
		return "ok"
	}
	return "OFF"
}

// rows returns a table's headings and lines.
func (t Table) rows() [][]string {
	out := [][]string{append(t.Columns[:len(t.Columns):len(t.Columns)], "")}
	for _, l := range t.Lines {
		out = append(out, append(l.Cells[:len(l.Cells):len(l.Cells)], verdict(l.Holds)))
	}
	return out
}

func (p Played) rows() [][]string {
	out := [][]string{{"number", "of the nodes", "its interval", "truth", "in this process", "deviation", ""}}
	for _, l := range p.Lines {
		interval, truth := "", ""
		if l.Low != nil && l.High != nil {
			interval = figures(*l.Low) + " to " + figures(*l.High)
		}
		if l.Truth != nil {
			truth = figures(*l.Truth)
		}
		what := l.What
		if l.Unit != "" {
			what += ", " + l.Unit
		}
		out = append(out, []string{what, figures(l.Value), interval, truth, figures(l.Mean), figures(l.Deviation), verdict(l.Holds)})
	}
	return out
}

func (b Beyond) rows() [][]string {
	out := [][]string{{"", "source", "ours", "by", "curator", "limit"}}
	for _, l := range b.Lines {
		out = append(out, []string{l.Privacy, l.Source, l.Ours, l.Method, l.Curator, l.Bound})
	}
	return out
}

// writeRows prints headings and lines.
func writeRows(out *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for c := range widths {
		// Headings wrap; cells do not.
		for r, row := range rows {
			if r > 0 {
				widths[c] = max(widths[c], utf8.RuneCountInString(row[c]))
			}
		}
		for _, word := range strings.Fields(rows[0][c]) {
			widths[c] = max(widths[c], utf8.RuneCountInString(word), min(utf8.RuneCountInString(rows[0][c]), 14))
		}
	}
	for _, line := range heading(rows[0], widths) {
		writeCells(out, line, widths)
	}
	for _, row := range rows[1:] {
		writeCells(out, row, widths)
	}
}

// heading breaks column names into lines that fit.
func heading(names []string, widths []int) [][]string {
	parts, most := make([][]string, len(names)), 0
	for c, name := range names {
		parts[c] = wrap(name, max(widths[c], 1))
		most = max(most, len(parts[c]))
	}
	lines := make([][]string, most)
	for i := range lines {
		for c := range names {
			cell := ""
			if at := i - (most - len(parts[c])); at >= 0 {
				cell = parts[c][at]
			}
			lines[i] = append(lines[i], cell)
		}
	}
	return lines
}

func writeCells(out *strings.Builder, cells []string, widths []int) {
	var line strings.Builder
	for c, cell := range cells {
		fmt.Fprintf(&line, "  %s%s", strings.Repeat(" ", widths[c]-utf8.RuneCountInString(cell)), cell)
	}
	out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

func paragraph(out *strings.Builder, text string) { present.Paragraph(out, "  ", text) }

func wrap(text string, width int) []string {
	return strings.Split(strings.TrimSuffix(block.Wrap("", "", text, width), "\n"), "\n")
}
