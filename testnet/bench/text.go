package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/cosketch/cosketch/kernel/projection"
)

// Text writes the comparison as a table, at most 100 columns wide.
func Text(w io.Writer, c Comparison) error {
	var out strings.Builder
	if c.busy() {
		fmt.Fprintf(&out, "This machine was busy before the run (load average %.1f on %d processors): times are too long, those\n"+
			"on all processors most of all.\n\n", c.Load, c.Threads)
	}
	for rest := c.Times; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Task == rest[0].Task {
			n++
		}
		writeTask(&out, rest[:n])
		rest = rest[n:]
	}
	fmt.Fprintf(&out, "Seconds are the best of %d on %s.\n", c.Repeat, strings.Join(c.Software, ", "))
	out.WriteString("Under a letter: how many times as fast as that, on as many threads where that was measured.\n")
	for _, f := range projection.Families() {
		if usesFamily(c.Times, f.Family) {
			fmt.Fprintf(&out, "%s: entries %s; scale %s (%s).\n", f.Family, f.Entries, f.Scale, f.Source)
		}
	}
	if c.Absent != "" {
		fmt.Fprintf(&out, "scikit-learn is absent (%s): only ours was measured. Debian has it as python3-sklearn.\n", c.Absent)
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

// writeTask writes the lines of one task. The methods of others have a letter, which
// heads a column of ratios.
func writeTask(out *strings.Builder, times []Time) {
	var others []string
	for _, t := range times {
		if !t.Ours && !slices.Contains(others, t.Method) {
			others = append(others, t.Method)
		}
	}
	letter := func(method string) string { return string(rune('a' + slices.Index(others, method))) }
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\tthreads\tseconds", times[0].Task)
	for _, method := range others {
		fmt.Fprintf(table, "\t%6s", letter(method))
	}
	for _, t := range times {
		name := t.Method
		if !t.Ours {
			name = letter(t.Method) + " " + name
		}
		fmt.Fprintf(table, "\n  %s\t%7d\t%7.3f", name, t.Threads, t.Seconds)
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

// method names a line of ours.
func method(f projection.Family) string { return "cosketch " + string(f) }

// JSON writes the comparison for programs.
func JSON(w io.Writer, c Comparison) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(c); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}
