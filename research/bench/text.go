package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/node/present"
)

// Text writes the comparison as tables, with notes on how to read them.
func Text(w io.Writer, c Comparison) error {
	var out strings.Builder
	if c.busy() {
		paragraph(&out, "This machine was busy before the run (load average %.1f on %d processors): times are too long, those on all processors most of all.", c.Load, c.Threads)
		out.WriteString("\n")
	}
	for rest := c.Times; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Task == rest[0].Task {
			n++
		}
		writeTask(&out, rest[:n])
		rest = rest[n:]
	}
	paragraph(&out, "Seconds are the best of %d on %s.", c.Repeat, strings.Join(c.Software, ", "))
	paragraph(&out, "Additions are those of one record. Under a letter: how many times as fast as that, on as many threads where that was measured.")
	for _, f := range projection.Families() {
		if usesFamily(c.Times, f.Family) {
			paragraph(&out, "%s: entries %s; scale %s (%s).", f.Family, f.Entries, f.Scale, f.Source)
		}
	}
	if c.Absent != "" {
		paragraph(&out, "scikit-learn is absent (%s): only ours was measured. Debian has it as python3-sklearn.", c.Absent)
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

// paragraph writes wrapped text.
func paragraph(out *strings.Builder, format string, args ...any) {
	present.Paragraph(out, "", fmt.Sprintf(format, args...))
}

// writeTask writes the lines of one task. Each of the others' methods has a letter, which heads a
// column of ratios.
func writeTask(out *strings.Builder, times []Time) {
	var others []string
	for _, t := range times {
		if !t.Ours && !slices.Contains(others, t.Method) {
			others = append(others, t.Method)
		}
	}
	letter := func(method string) string { return string(rune('a' + slices.Index(others, method))) }
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\tadditions\tthreads\tseconds", times[0].Task)
	for _, method := range others {
		fmt.Fprintf(table, "\t%6s", letter(method))
	}
	for _, t := range times {
		name := t.Method
		if !t.Ours {
			name = letter(t.Method) + " " + name
		}
		additions := ""
		if t.Additions > 0 {
			additions = fmt.Sprint(t.Additions)
		}
		fmt.Fprintf(table, "\n  %s\t%9s\t%7d\t%7.3f", name, additions, t.Threads, t.Seconds)
		for _, method := range others {
			if ratio, ok := t.Faster[method]; ok {
				fmt.Fprintf(table, "\t%6.2f", ratio)
			}
		}
	}
	fmt.Fprint(table, "\n\n")
	table.Flush()
}

func usesFamily(times []Time, f projection.Family) bool {
	return slices.ContainsFunc(times, func(t Time) bool {
		return t.Ours && strings.HasPrefix(t.Method, method(f))
	})
}

// method returns the name of a method of ours.
func method(f projection.Family) string { return "cosketch " + string(f) }
