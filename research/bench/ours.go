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

	"github.com/cosketch/cosketch/kernel/cpu"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/projection/kernels"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed/stream"
)

var largest = fixedpoint.MaxBits.One()

// ours measures this project's projections and analyses, one task after another.
func ours(ctx context.Context, w Workload) ([]Time, error) {
	prepare := []func() ([]line, error){func() ([]line, error) { return oursColumns(w.Columns) }}
	for _, r := range w.Records {
		prepare = append(prepare, func() ([]line, error) { return oursRecords(r) })
	}
	prepare = append(prepare, func() ([]line, error) { return oursPoints(w.Points) })
	var out []Time
	for _, lines := range prepare {
		lines, err := lines()
		if err != nil {
			return nil, err
		}
		times, err := best(ctx, w.Repeat, lines)
		if err != nil {
			return nil, err
		}
		out = append(out, times...)
	}
	return out, nil
}

// line is a function to time, and the result it fills.
type line struct {
	Time
	run func() error
}

// workers returns the numbers of workers to measure: all processors first, then one, because some
// of the others use one.
func workers() []int { return slices.Compact([]int{runtime.GOMAXPROCS(0), 1}) }

func oursRecords(r Records) (out []line, err error) {
	x := entries(r.M * r.D)
	labels := make([][]byte, r.D)
	for j := range labels {
		labels[j] = stream.ColumnLabel(fmt.Sprint(j))
	}
	for _, family := range []projection.Family{projection.Hadamard, projection.Rademacher} {
		fixed, err := fix(projection.Spec{Family: family, K: r.K}, labels)
		if err != nil {
			return nil, err
		}
		additions := fixed.Spec().Cost(r.D).Additions
		for _, n := range workers() {
			out = append(out, line{Time{Task: r.task(), Method: method(family), Threads: n, Ours: true, Additions: additions}, func() error {
				b, err := sketch.NewRecords(fixed, sketch.RecordsOptions{Largest: largest, Workers: n})
				if err != nil {
					return err
				}
				return b.Add(x)
			}})
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

func oursColumns(c Columns) (out []line, err error) {
	x, labels, places := entries(c.M*c.N), ids(c.M), places(c.M, c.K)
	matrix, err := projection.New(projection.Spec{Family: projection.Sparse, K: c.K, S: 1}, stream.New([32]byte{1}))
	if err != nil {
		return nil, err
	}
	own := Time{Task: c.task(), Ours: true, Additions: matrix.Spec().Cost(c.N).Additions}
	for _, n := range workers() {
		own.Method, own.Threads = method(projection.Sparse)+" s=1, from ids", n
		out = append(out, line{own, func() error {
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
		own.Method, own.Threads = method(projection.Sparse)+" s=1, R given", n
		out = append(out, line{own, func() error {
			given(c, places, x, n)
			return nil
		}})
	}
	for _, n := range workers() {
		out = append(out, line{Time{Task: c.task(), Method: "one pass over the data", Threads: n}, func() error { return pass(x, n) }})
	}
	return out, nil
}

// given returns the sketch of records whose rows of R are given. It neither hashes ids nor checks
// entries; the others do neither.
func given(c Columns, places []uint32, x []int64, workers int) []int64 {
	var wait sync.WaitGroup
	sums := make([][]int64, workers)
	for i := range sums {
		from, to := c.M*i/workers, c.M*(i+1)/workers
		wait.Go(func() {
			sums[i] = make([]int64, c.K*c.N)
			kernels.AddRows(cpu.Best(), sums[i], x[from*c.N:to*c.N], c.N, places[from:to])
		})
	}
	wait.Wait()
	for _, more := range sums[1:] {
		for j, v := range more {
			sums[0][j] += v
		}
	}
	return sums[0]
}

// pass reads all entries once and does next to nothing with them: a lower bound for any projection.
func pass(x []int64, workers int) error {
	var wait sync.WaitGroup
	inside := make([]bool, workers)
	for i := range workers {
		part := x[len(x)*i/workers : len(x)*(i+1)/workers]
		wait.Go(func() { inside[i] = kernels.Within(cpu.Best(), part, largest) })
	}
	wait.Wait()
	if slices.Contains(inside, false) {
		return fmt.Errorf("passing over the data: an entry exceeds ±%d", largest)
	}
	return nil
}

// best returns the fastest of several runs of each line. Lines alternate, so that other load on the
// machine does not slow all runs of one line. Garbage is collected before each run.
func best(ctx context.Context, repeat int, lines []line) ([]Time, error) {
	out := make([]Time, len(lines))
	for round := range repeat {
		for i, m := range lines {
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

// places draws the rows of m records: a place below k and a sign for each.
func places(m, k int) []uint32 {
	rng, out := rand.New(rand.NewPCG(5, 6)), make([]uint32, m)
	for i := range out {
		out[i] = kernels.Place(uint32(rng.IntN(k)), rng.Uint32()&1)
	}
	return out
}
