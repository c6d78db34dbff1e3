package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/projection/kernels"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed/stream"
)

var largest = fixedpoint.MaxBits.One()

// ours measures this project's projections.
func ours(ctx context.Context, w Workload) ([]Time, error) {
	records, err := oursRecords(w)
	if err != nil {
		return nil, err
	}
	first, err := best(ctx, w.Repeat, records)
	if err != nil {
		return nil, err
	}
	columns, err := oursColumns(w)
	if err != nil {
		return nil, err
	}
	second, err := best(ctx, w.Repeat, columns)
	return append(first, second...), err
}

// method is what is timed, and the line that it fills.
type method struct {
	Time
	run func() error
}

// workers are the numbers of workers to measure: all processors first, then one,
// as some of the others use one.
func workers() []int { return slices.Compact([]int{runtime.GOMAXPROCS(0), 1}) }

func oursRecords(w Workload) (out []method, err error) {
	x := entries(w.Records.M * w.Records.D)
	labels := make([][]byte, w.Records.D)
	for j := range labels {
		labels[j] = stream.ColumnLabel(fmt.Sprint(j))
	}
	for _, k := range w.Records.K {
		for _, family := range []projection.Family{projection.Hadamard, projection.Rademacher} {
			fixed, err := fix(projection.Spec{Family: family, K: k}, labels)
			if err != nil {
				return nil, err
			}
			for _, n := range workers() {
				line := Time{Task: w.Records.task(k), Method: "cosketch " + string(family), Threads: n}
				out = append(out, method{line, func() error {
					b, err := sketch.NewRecords(fixed, sketch.RecordsOptions{Largest: largest, Workers: n})
					if err != nil {
						return err
					}
					return b.Add(x)
				}})
			}
		}
	}
	return out, nil
}

func fix(spec projection.Spec, labels [][]byte) (*projection.Fixed, error) {
	rows := stream.New([32]byte{1})
	if spec.Family == projection.Hadamard {
		return projection.FixHadamard(spec, rows, stream.New([32]byte{2}), labels)
	}
	return projection.Fix(spec, rows, labels)
}

func oursColumns(w Workload) (out []method, err error) {
	c := w.Columns
	x, labels := entries(c.M*c.N), ids(c.M)
	matrix, err := projection.New(projection.Spec{Family: projection.Sparse, K: c.K, S: 1}, stream.New([32]byte{1}))
	if err != nil {
		return nil, err
	}
	for _, n := range workers() {
		line := Time{Task: c.task(), Method: "cosketch sparse s=1, from ids", Threads: n}
		out = append(out, method{line, func() error {
			b, err := sketch.NewColumns(matrix, sketch.ColumnsOptions{Columns: c.N, Largest: largest, Workers: n})
			if err != nil {
				return err
			}
			if err := b.Add(labels, x); err != nil {
				return err
			}
			b.Sketch()
			return nil
		}})
	}
	for _, n := range workers() {
		line := Time{Task: c.task(), Method: "one pass over the data", Threads: n}
		out = append(out, method{line, func() error { return pass(x, n) }})
	}
	return out, nil
}

// pass reads all entries once and does next to nothing with them: what no
// projection can be faster than.
func pass(x []int64, workers int) error {
	var wait sync.WaitGroup
	inside := make([]bool, workers)
	for i := range workers {
		part := x[len(x)*i/workers : len(x)*(i+1)/workers]
		wait.Go(func() { inside[i] = kernels.Best().Within(part, largest) })
	}
	wait.Wait()
	if slices.Contains(inside, false) {
		return fmt.Errorf("passing over the data: an entry exceeds ±%d", largest)
	}
	return nil
}

// best returns the fastest of several runs of each method. They take turns, so
// that what else the machine does for a while slows no method in all of its runs;
// what a run leaves behind is collected before the next is timed.
func best(ctx context.Context, repeat int, methods []method) ([]Time, error) {
	out := make([]Time, len(methods))
	for round := range repeat {
		for i, m := range methods {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			runtime.GC()
			began := time.Now()
			if err := m.run(); err != nil {
				return nil, fmt.Errorf("%s: %w", m.Method, err)
			}
			took := time.Since(began).Seconds()
			if round == 0 {
				out[i], out[i].Seconds = m.Time, took
			}
			out[i].Seconds = min(out[i].Seconds, took)
		}
	}
	return out, nil
}

// entries returns n fixed-point values.
func entries(n int) []int64 {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]int64, n)
	for i := range x {
		x[i] = int64(rng.Uint64N(uint64(2*largest+1))) - largest
	}
	return x
}

// ids returns m ids of 16 bytes.
func ids(m int) [][]byte {
	rng := rand.New(rand.NewPCG(3, 4))
	all, out := make([]byte, 0, 16*m), make([][]byte, m)
	for i := range out {
		all = binary.LittleEndian.AppendUint64(all, rng.Uint64())
		all = binary.LittleEndian.AppendUint64(all, rng.Uint64())
		out[i] = all[16*i:]
	}
	return out
}
