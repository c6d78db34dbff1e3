package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
)

// Time is one line of a comparison.
type Time struct {
	Task     string  `json:"task"`
	Method   string  `json:"method"`
	Threads  int     `json:"threads"`
	Seconds  float64 `json:"seconds"`  // best of Repeat
	Relative float64 `json:"relative"` // Seconds over those of the task's first line
}

// Comparison is what one run measured.
type Comparison struct {
	Software []string `json:"software"`         // names and versions of what was measured
	Absent   string   `json:"absent,omitempty"` // why there are only times of ours
	Repeat   int      `json:"repeat"`
	Times    []Time   `json:"times"` // by task, ours first
}

// Run measures the others, if they are there, then ours, and never both at a
// time. It says on log what it does, and ends with ctx.
func Run(ctx context.Context, w Workload, log io.Writer) (Comparison, error) {
	fmt.Fprintln(log, "measuring scikit-learn, numpy and scipy")
	others, err := theirs(ctx, python, w)
	if err != nil {
		return Comparison{}, err
	}
	fmt.Fprintln(log, "measuring cosketch")
	own, err := ours(ctx, w)
	if err != nil {
		return Comparison{}, err
	}
	return compare(w, own, others), nil
}

// compare orders times by task and relates them.
func compare(w Workload, own []Time, others reference) Comparison {
	c := Comparison{Absent: others.Absent, Repeat: w.Repeat}
	c.Software = append([]string{runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH}, others.Software...)
	all := append(own, others.times(w)...)
	for _, task := range w.tasks() {
		first := 0.0
		for _, t := range all {
			if t.Task != task {
				continue
			}
			if first == 0 {
				first = t.Seconds
			}
			t.Relative = t.Seconds / first
			c.Times = append(c.Times, t)
		}
	}
	return c
}

// Text writes the comparison as a table.
func Text(w io.Writer, c Comparison) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	task := ""
	for _, t := range c.Times {
		if t.Task != task {
			if task != "" {
				fmt.Fprintln(table)
			}
			fmt.Fprintf(table, "%s\tthreads\tseconds\trelative\n", t.Task)
			task = t.Task
		}
		fmt.Fprintf(table, "  %s\t%7d\t%7.3f\t%8.2f\n", t.Method, t.Threads, t.Seconds, t.Relative)
	}
	fmt.Fprintf(table, "\nBest of %d on %s.\n", c.Repeat, strings.Join(c.Software, ", "))
	if c.Absent != "" {
		fmt.Fprintf(table, "scikit-learn is absent (%s): only ours was measured. Debian has it as python3-sklearn.\n", c.Absent)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

// JSON writes the comparison for programs.
func JSON(w io.Writer, c Comparison) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(c); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}
