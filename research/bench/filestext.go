package bench

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/cosketch/cosketch/kernel/dp"
)

// FilesText writes the results as tables.
func FilesText(w io.Writer, f Files) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range f.Reading {
		fmt.Fprintf(t, "%s, %d × %d, %.0f MB, unit %s%s\tseconds\tCPU\tpeak MiB\n", r.Format, r.Records, r.Columns, float64(r.Bytes)/1e6, r.Unit, clipped(r.Unit))
		writeProcess(t, "party data check (reads alone)", r.Check)
		writeProcess(t, fmt.Sprintf("party advanced sketch --dry-run, k = %d", dimension), r.DryRun.Process)
		fmt.Fprintf(t, "    of it noise\t%7.3f\n    of it encoding\t%7.3f\n    of it both, on one processor\t\t%6.2f\n", r.DryRun.Noise, r.DryRun.Encode, r.NoiseCPU)
		limit := fmt.Sprintf("%.0f %%", 100*MaxAdded)
		fmt.Fprintf(t, "  projecting adds to reading, without noise and encoding:\n    %+.0f %% of its time%s\n    %+.0f %% of its processor time%s\n\n",
			100*r.Added, held(r.Added <= MaxAdded, limit), 100*r.AddedCPU, held(r.AddedCPU <= MaxAdded, limit))
	}
	if f.Growth != nil {
		f.Growth.write(t)
	}
	fmt.Fprintf(t, "Best of %d on %s, each figure by itself, with %d processors at a load average of %.1f.\n", f.Repeat, f.Software, f.Threads, f.Load)
	if busy(f.Load, f.Threads) {
		fmt.Fprintln(t, "The machine was busy before the run: go by processor time, or run again.")
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("writing the measurement: %w", err)
	}
	return nil
}

func clipped(unit dp.Unit) string {
	if unit == dp.Record {
		return ", clipped"
	}
	return ""
}

func writeProcess(w io.Writer, name string, p Process) {
	fmt.Fprintf(w, "  %s\t%7.3f\t%6.2f\t%8.0f\n", name, p.Seconds, p.CPU, mebibytes(p.Memory))
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func held(ok bool, limit string) string {
	if ok {
		return " (at most " + limit + ": held)"
	}
	return " (at most " + limit + ": NOT HELD)"
}

func (g *Growth) write(w io.Writer) {
	fmt.Fprintf(w, "csv, records × %d, dry run\tseconds\tCPU\tpeak MiB\tof it beside the sketch\n", g.Columns)
	var most int64
	for _, p := range g.Points {
		most = max(most, p.Beside)
		fmt.Fprintf(w, "  %d\t%7.3f\t%6.2f\t%8.0f\t%8.0f\n", p.Records, p.DryRun.Seconds, p.DryRun.CPU, mebibytes(p.DryRun.Memory), mebibytes(p.Beside))
	}
	fmt.Fprintf(w, "  memory beside the sketch: %.0f MiB%s\n", mebibytes(most), held(most <= MaxMemory, fmt.Sprintf("%.0f MiB", mebibytes(MaxMemory))))
	fmt.Fprintf(w, "  time = %.3f s + %.3f s for each million records; off the line by %.1f %% at most%s\n\n",
		g.Fixed, g.PerMillion, 100*g.Deviation, held(g.Deviation <= MaxDeviation, fmt.Sprintf("%.0f %%", 100*MaxDeviation)))
}
