package kernels

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/cosketch/cosketch/kernel/cpu"
)

// hadamardEntry returns entry (i, j) of Sylvester's Hadamard matrix.
func hadamardEntry(i, j int) int64 { return 1 - 2*int64(bits.OnesCount(uint(i&j))&1) }

// drawHadamard returns a matrix of order n that keeps k columns, with its signs and columns.
func drawHadamard(rng *rand.Rand, n, k int) (Hadamard, []int16, []int32) {
	signs, columns := make([]int16, n), make([]int32, k)
	for i := range signs {
		signs[i] = int16(1 - 2*rng.IntN(2))
	}
	for i := range columns {
		columns[i] = int32(rng.IntN(n))
	}
	return NewHadamard(signs, columns), signs, columns
}

// checkHadamard compares every level with the dense product.
func checkHadamard(t *testing.T, rng *rand.Rand, n int, c shape) {
	t.Helper()
	h, signs, columns := drawHadamard(rng, n, c.k)
	x := draw[int16](rng, n, c.offset, math.MaxInt16, c.extreme)
	want := make([]int64, c.k)
	for j, column := range columns {
		for i, v := range x {
			want[j] += int64(v) * int64(signs[i]) * hadamardEntry(i, int(column))
		}
	}
	for _, l := range cpu.Levels() {
		y, words := guarded(make([]int64, c.k), c.offset), guarded(make([]int64, n/2), c.offset)
		HadamardProduct(l, y.inner, x, h, words.inner)
		if !slices.Equal(y.inner, want) {
			t.Fatalf("%v: Hadamard product of order %d to %+v differs", l, n, c)
		}
		y.check(t, l)
		words.check(t, l)
	}
}

// Every level gives the sum of every column at every order.
func TestHadamardLevelsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := LeastHadamard; n <= MostHadamard; n *= 2 {
		for offset := range 3 {
			checkHadamard(t, rng, n, shape{k: min(n, 40), offset: offset, extreme: offset == 0})
		}
	}
	for n := LeastHadamard; n <= 1<<12; n *= 2 {
		x, signs, columns := draw[int16](rng, n, 0, math.MaxInt16, true), make([]int16, n), make([]int32, n)
		want := make([]int64, n)
		for i, v := range x {
			signs[i], columns[i], want[i] = 1, int32(i), int64(v)
		}
		WalshHadamard(want)
		for _, l := range cpu.Levels() {
			y := make([]int64, n)
			HadamardProduct(l, y, x, NewHadamard(signs, columns), make([]int64, n/2))
			if !slices.Equal(y, want) {
				t.Fatalf("%v: transform of order %d differs", l, n)
			}
		}
	}
}

// The largest possible sums, n × 32768, and those with one sign flipped.
func TestHadamardDoesNotOverflow(t *testing.T) {
	for n := LeastHadamard; n <= MostHadamard; n *= 2 {
		for _, column := range []int{0, 1, n / 2, n - 1} {
			x, signs := make([]int16, n), make([]int16, n)
			for i := range x {
				x[i], signs[i] = math.MinInt16, int16(hadamardEntry(i, column))
			}
			for _, l := range cpu.Levels() {
				y := make([]int64, 2)
				other := int32(n - 1 - column)
				HadamardProduct(l, y, x, NewHadamard(signs, []int32{int32(column), other}), make([]int64, n/2))
				if want := int64(math.MinInt16) * int64(n); y[0] != want || y[1] != 0 {
					t.Fatalf("%v: order %d, column %d: %d, want %d and 0", l, n, column, y, want)
				}
			}
		}
	}
}

// The transform in 64 bits equals a naive product with Sylvester's matrix.
func TestWalshHadamardEqualsNaive(t *testing.T) {
	for n := 1; n <= 1024; n *= 2 {
		v, want := make([]int64, n), make([]int64, n)
		for i := range v {
			v[i] = int64(i*i*7919%20011) - 10000
		}
		for j := range want {
			for i, c := range v {
				want[j] += c * hadamardEntry(i, j)
			}
		}
		WalshHadamard(v)
		if !slices.Equal(v, want) {
			t.Fatalf("order %d", n)
		}
	}
}

func FuzzHadamard(f *testing.F) {
	f.Add(uint64(1), uint8(7), uint8(0), false)
	f.Add(uint64(2), uint8(8), uint8(63), true)
	f.Add(uint64(3), uint8(10), uint8(255), true)
	f.Fuzz(func(t *testing.T, seed uint64, log, k uint8, extreme bool) {
		checkHadamard(t, rand.New(rand.NewPCG(seed, 2)), LeastHadamard<<(log%12), shape{k: int(k), offset: int(seed % 8), extreme: extreme})
	})
}

func TestHadamardPanics(t *testing.T) {
	h := NewHadamard(make([]int16, 128), []int32{127})
	for name, call := range map[string]func(cpu.Level){
		"order":          func(cpu.Level) { NewHadamard(make([]int16, 3), nil) },
		"order one":      func(cpu.Level) { NewHadamard(make([]int16, 1), nil) },
		"large order":    func(cpu.Level) { NewHadamard(make([]int16, 2*MostHadamard), nil) },
		"column":         func(cpu.Level) { NewHadamard(make([]int16, 2), []int32{2}) },
		"column below 0": func(cpu.Level) { NewHadamard(make([]int16, 2), []int32{-1}) },
		"y":              func(l cpu.Level) { HadamardProduct(l, make([]int64, 2), make([]int16, 128), h, make([]int64, 64)) },
		"x":              func(l cpu.Level) { HadamardProduct(l, make([]int64, 1), make([]int16, 127), h, make([]int64, 64)) },
		"words":          func(l cpu.Level) { HadamardProduct(l, make([]int64, 1), make([]int16, 128), h, make([]int64, 63)) },
	} {
		for _, l := range cpu.Levels() {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v: wrong %s passed", l, name)
					}
				}()
				call(l)
			}()
		}
	}
}

// A record that is already int16, to compare with a sign product of the same shape.
func BenchmarkHadamardProduct(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ n, k int }{{128, 64}, {1024, 64}, {1024, 256}, {16384, 256}} {
		h, _, _ := drawHadamard(rng, c.n, c.k)
		x, y, words := draw[int16](rng, c.n, 0, 1<<14, false), make([]int64, c.k), make([]int64, c.n/2)
		for _, l := range cpu.Levels() {
			b.Run(strconv.Itoa(c.n)+" to "+strconv.Itoa(c.k)+"/"+l.String(), func(b *testing.B) {
				for b.Loop() {
					HadamardProduct(l, y, x, h, words)
				}
			})
		}
	}
}
