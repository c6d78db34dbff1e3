package projection

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/cpu"
)

// drawBatch returns m labels and m × n entries; if wide, these do not fit in 16 bits.
func drawBatch(seed uint64, m, n int, wide bool) (labels [][]byte, x []int64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	labels, x = make([][]byte, m), make([]int64, m*n)
	for i := range labels {
		labels[i] = []byte(strconv.Itoa(i))
	}
	for i := range x {
		x[i] = rng.Int64N(1<<15+1) - 1<<14
	}
	if wide {
		x[rng.IntN(len(x))] = 1 << 40
		x[rng.IntN(len(x))] = -1<<15 - 1
	}
	return labels, x
}

// A batch gives the same sums as its records one by one, at every level.
func TestBatchesEqualRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, source := drawSpec(t), trial(rapid.IntRange(0, 1<<30).Draw(t, "key"))
		m, n := rapid.IntRange(1, 150).Draw(t, "m"), rapid.IntRange(1, 20).Draw(t, "n")
		labels, x := drawBatch(rapid.Uint64().Draw(t, "seed"), m, n, rapid.IntRange(0, 3).Draw(t, "wide") == 0)
		checkOuters(t, spec, source, labels, x, n)
		checkProducts(t, spec, source, labels[:min(m, n)], x[:m*n/min(m, n)*min(m, n)])
	})
}

// fatal is the part of *testing.T and *rapid.T that helpers use.
type fatal interface {
	Helper()
	Fatalf(string, ...any)
}

func checkOuters(t fatal, spec Spec, source Source, labels [][]byte, x []int64, n int) {
	t.Helper()
	matrix, err := New(spec, source)
	if err != nil {
		t.Fatalf("%v", err)
	}
	want := make([]int64, spec.K*n)
	for i, label := range labels {
		matrix.AddOuter(want, label, x[i*n:(i+1)*n])
	}
	for _, level := range cpu.Levels() {
		batched := matrix.Clone()
		batched.scratch.level = level
		got := make([]int64, spec.K*n)
		half := len(labels) / 2 // with scratch memory that was used before
		batched.AddOuters(got, labels[:half], x[:half*n])
		batched.AddOuters(got, labels[half:], x[half*n:])
		if !slices.Equal(got, want) {
			t.Fatalf("%v, %v: %d records of %d entries differ from one by one", spec, level, len(labels), n)
		}
	}
}

// A common ending, passed once, gives the same sums as endings written out in each record, at every
// level.
func TestEndings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, source := drawSpec(t), trial(rapid.IntRange(0, 1<<30).Draw(t, "key"))
		m, n := rapid.IntRange(1, 150).Draw(t, "m"), rapid.IntRange(0, 20).Draw(t, "n")
		labels, x := drawBatch(rapid.Uint64().Draw(t, "seed"), m, n+1, false)
		x = x[:m*n]
		ending := rapid.SliceOfN(rapid.Int64Range(-1<<40, 1<<40), 1, 3).Draw(t, "ending")
		matrix, err := New(spec, source)
		if err != nil {
			t.Fatal(err)
		}
		var whole []int64
		for i := range m {
			whole = append(append(whole, x[i*n:(i+1)*n]...), ending...)
		}
		want := make([]int64, spec.K*(n+len(ending)))
		matrix.AddOuters(want, labels, whole)
		for _, level := range cpu.Levels() {
			ended := matrix.Clone()
			ended.scratch.level = level
			got := make([]int64, len(want))
			half := m / 2 // with scratch memory that was used before
			ended.AddOuters(got, labels[:half], x[:half*n], ending...)
			ended.AddOuters(got, labels[half:], x[half*n:], ending...)
			if !slices.Equal(got, want) {
				t.Fatalf("%v, %v: %d records of %d entries and %d more differ from the same written out", spec, level, m, n, len(ending))
			}
		}
	})
}

func checkProducts(t fatal, spec Spec, source Source, labels [][]byte, x []int64) {
	t.Helper()
	fixed, err := Fix(spec, source, labels)
	if err != nil {
		t.Fatalf("%v", err)
	}
	d := len(labels)
	m := len(x) / d
	x = x[:m*d]
	want := make([]int64, m*spec.K)
	for i := range m {
		projectRows(want[i*spec.K:][:spec.K], fixed.rows, x[i*d:][:d])
	}
	got := slices.Repeat([]int64{77}, m*spec.K)
	for _, level := range cpu.Levels() {
		if fixed.product != nil {
			fixed.product.multiply(got, x, &scratch{level: level})
		} else {
			fixed.Project(got, x)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, %v: %d records of %d entries differ from row by row", spec, level, m, d)
		}
	}
}

// Batches larger than the blocks that they are processed in.
func TestLargeBatches(t *testing.T) {
	for _, spec := range []Spec{{Rademacher, 100, 0}, {Sparse, 96, 4}} {
		labels, x := drawBatch(1, 2*mostRecords+77, 5, false)
		checkOuters(t, spec, trial(1), labels, x, 5)
		x[len(x)-1] = 1 << 15
		checkOuters(t, spec, trial(1), labels, x, 5)
		_, x = drawBatch(2, 5000, 61, false)
		checkProducts(t, spec, trial(1), labels[:61], x)
		x[61*3000] = 1 << 15
		checkProducts(t, spec, trial(1), labels[:61], x)
	}
	labels, x := drawBatch(3, 40, 3, false) // a large K limits a block to few records
	checkOuters(t, Spec{Rademacher, 1 << 18, 0}, trial(1), labels, x, 3)
}

func TestBatchShapesPanic(t *testing.T) {
	matrix, _ := New(Spec{Sparse, 8, 1}, keyed{})
	matrix.AddOuters(nil, nil, nil)
	matrix.AddOuters(nil, [][]byte{nil}, nil)
	for name, call := range map[string]func(){
		"labels":  func() { matrix.AddOuters(make([]int64, 16), nil, make([]int64, 2)) },
		"entries": func() { matrix.AddOuters(make([]int64, 8), make([][]byte, 2), make([]int64, 3)) },
		"ending":  func() { matrix.AddOuters(make([]int64, 16), make([][]byte, 1), make([]int64, 2), 1) },
		"sums":    func() { matrix.AddOuters(make([]int64, 15), make([][]byte, 1), make([]int64, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: a wrong shape passed", name)
				}
			}()
			call()
		}()
	}
}

// Records side, 1,024 columns: every level on one core, compared with gonum's GEMM in float64 on
// one core and a plain loop over int64. Each includes all work for a batch of int64 records; GEMM
// starts from data and R that are float64 already.
func BenchmarkRecords(b *testing.B) {
	const m, d = 512, 1024
	labels, _ := drawBatch(1, d, 1, false)
	_, x := drawBatch(2, m, d, false)
	for _, k := range []int{256, 64} {
		fixed, err := Fix(Spec{Rademacher, k, 0}, trial(1), labels)
		if err != nil {
			b.Fatal(err)
		}
		y := make([]int64, m*k)
		run := func(name string, rows int, project func()) {
			b.Run("k="+strconv.Itoa(k)+"/"+name, func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				for b.Loop() {
					project()
				}
				row := float64(b.Elapsed().Nanoseconds()) / float64(b.N*rows)
				b.ReportMetric(row, "ns/record")
				b.ReportMetric(float64(d*k)/row, "GMAC/s")
			})
		}
		for _, level := range cpu.Levels() {
			s := &scratch{level: level}
			run(level.String(), m, func() { fixed.product.multiply(y, x, s) })
		}
		r := entries(fixed)
		run("plain", 8, func() { plain(y[:8*k], x[:8*d], r, k) })
		dense, data, out := mat.NewDense(d, k, floats(r)), mat.NewDense(m, d, floats(x)), mat.NewDense(m, k, nil)
		run("gonum", m, func() { out.Mul(data, dense) })
	}
}

// entries returns a fixed matrix, d × k, written out.
func entries(f *Fixed) []int64 {
	r := make([]int64, len(f.rows)*f.spec.K)
	for j, row := range f.rows {
		row.addScaled(r[j*f.spec.K:][:f.spec.K], 1)
	}
	return r
}

func plain(y, x, r []int64, k int) {
	d := len(r) / k
	clear(y)
	for i := range len(x) / d {
		out := y[i*k:][:k]
		for j, v := range x[i*d:][:d] {
			for c, sign := range r[j*k:][:k] {
				out[c] += v * sign
			}
		}
	}
}

func floats(x []int64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}
