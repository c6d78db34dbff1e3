package held

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

// BenchmarkChanges compares withdrawing 1 in 1000 records, and adding a late shard of as many, with
// reading all data afresh, which they save. COSKETCH_FULL=1 makes it 10 million records.
func BenchmarkChanges(b *testing.B) {
	records := full.Or(200_000, 10_000_000)
	w := newWorld(b, "columns, vertical, clipped", 1)
	rows := func(name string, first, n int) string {
		path := filepath.Join(w.dir, name)
		f, err := os.Create(path)
		must(b, err)
		out := bufio.NewWriter(f)
		fmt.Fprintln(out, "id,x,w")
		for i := first; i < first+n; i++ {
			fmt.Fprintf(out, "person-%d,%d.%d,%c\n", i, i%10, i%7, "abc"[i%3])
		}
		must(b, out.Flush())
		must(b, f.Close())
		return path
	}
	rows("a.csv", 0, records)
	_, err := w.open().Update(ctx)
	must(b, err)
	next := records
	few := records / 1000
	b.Run("rebuild", func(b *testing.B) {
		for b.Loop() {
			_, err := w.open().Rebuild(ctx)
			must(b, err)
		}
		b.ReportMetric(peak(), "peakMB")
	})
	b.Run("late shard", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			rows(fmt.Sprintf("b%d.csv", next), next, few)
			next += few
			b.StartTimer()
			_, err := w.open().Update(ctx)
			must(b, err)
		}
	})
	gone := 0
	b.Run("withdrawal", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			path := rows("gone.txt", gone, few)
			gone += few
			b.StartTimer()
			_, err := w.open().Withdraw(ctx, path)
			must(b, err)
		}
	})
}

// peak returns the memory that the process has obtained from the system so far, in MB.
func peak() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.Sys) / 1e6
}
