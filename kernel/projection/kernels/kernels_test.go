package kernels

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/cosketch/cosketch/kernel/cpu"
)

// shape describes the inputs of the kernels.
type shape struct {
	m, pairs, k int
	offset      int  // misaligns slices by so many entries
	extreme     bool // half of the entries are at the limits of their range
}

// draw returns n random entries between ±largest, at an offset that misaligns them.
func draw[T int16 | int64](rng *rand.Rand, n, offset int, largest int64, extreme bool) []T {
	memory := make([]T, n+offset)
	x := memory[offset : offset+n : offset+n]
	for i := range x {
		switch {
		case extreme && rng.IntN(2) == 0:
			x[i] = T(largest * (2*rng.Int64N(2) - 1))
		default:
			x[i] = T(rng.Int64N(2*largest+1) - largest)
		}
	}
	return x
}

func drawSigns(rng *rand.Rand, k, pairs int) (s Signs, bits [][]byte) {
	s = Signs{K: k, Pairs: pairs, Words: make([]uint64, Words(k, pairs))}
	stride := (k + 7) / 8
	rows := make([]byte, 2*pairs*stride)
	for i := range rows {
		rows[i] = byte(rng.Uint32())
	}
	half := pairs / 2
	s.Set(0, rows[:2*half*stride], stride)
	s.Set(half, rows[2*half*stride:], stride)
	for row := range slices.Chunk(rows, stride) {
		bits = append(bits, row)
	}
	return s, bits
}

// checkSignProduct compares every level with the dense product.
func checkSignProduct(t *testing.T, rng *rand.Rand, c shape) {
	s, bits := drawSigns(rng, c.k, c.pairs)
	x := draw[int16](rng, PaddedRows(c.m)*2*c.pairs, c.offset, math.MaxInt16, c.extreme)
	start := draw[int64](rng, c.m*c.k, c.offset, 1<<61, c.extreme)
	want := slices.Clone(start)
	for r := range c.m {
		for j := range 2 * c.pairs {
			for i := range c.k {
				if v := int64(x[r*2*c.pairs+j]); bits[j][i/8]>>(i%8)&1 == 1 {
					want[r*c.k+i] -= v
				} else {
					want[r*c.k+i] += v
				}
			}
		}
	}
	for _, l := range cpu.Levels() {
		y := guarded(start, c.offset)
		SignProduct(l, y.inner, x, c.m, s)
		if !slices.Equal(y.inner, want) {
			t.Fatalf("%v: sign product of %+v differs", l, c)
		}
		y.check(t, l)
	}
}

func checkRows(t *testing.T, rng *rand.Rand, c shape, n, each int) {
	x := draw[int64](rng, c.m*n, c.offset, 1<<40, c.extreme)
	ending := draw[int64](rng, rng.IntN(4), 0, 1<<40, c.extreme)
	width := n + len(ending)
	start := draw[int64](rng, c.k*width, c.offset, 1<<61, c.extreme)
	places := make([]uint32, c.m*each)
	for i := range places {
		places[i] = Place(uint32(rng.IntN(c.k)), rng.Uint32()&1)
	}
	want := slices.Clone(start)
	for i, p := range places {
		sign, row := 1-2*int64(p&1), want[int(p>>1)*width:][:width]
		for j, v := range slices.Concat(x[i/each*n:][:n], ending) {
			row[j] += sign * v
		}
	}
	for _, l := range cpu.Levels() {
		u := guarded(start, c.offset)
		AddRows(l, u.inner, x, n, places, ending...)
		if !slices.Equal(u.inner, want) {
			t.Fatalf("%v: adding %d × %d rows of %d and %d to %d differs", l, c.m, each, n, len(ending), c.k)
		}
		u.check(t, l)
	}
}

// checkNorms places one entry at, and one beyond, the limit of entries that may be squared.
func checkNorms(t *testing.T, rng *rand.Rand, c shape, n int) {
	x := draw[int64](rng, c.m*n, c.offset, 1<<26-1, c.extreme)
	at := rng.IntN(len(x))
	for _, planted := range []int64{x[at], 1<<26 - 1, -1 << 26, 1 << 26, -1<<26 - 1, 1 << 27, 1 << 32, -1 << 32, 1<<32 + 1, math.MaxInt64, math.MinInt64} {
		x[at] = planted
		fits := planted < 1<<26 && planted >= -1<<26
		want := make([]uint64, c.m)
		for i, v := range x {
			want[i/n] += uint64(v * v)
		}
		for _, l := range cpu.Levels() {
			got := make([]uint64, c.m+1)
			got[c.m] = fence
			if SquaredNorms(l, got[:c.m], x) != fits || fits && !slices.Equal(got[:c.m], want) || got[c.m] != fence {
				t.Fatalf("%v: %d at %d of %d × %d: norms %v, want %v", l, planted, at, c.m, n, got, want)
			}
		}
	}
}

func TestNormsOfNothing(t *testing.T) {
	for _, l := range cpu.Levels() {
		norms := []uint64{1, 2}
		if !SquaredNorms(l, norms, nil) || norms[0] != 0 || norms[1] != 0 || !SquaredNorms(l, nil, nil) {
			t.Errorf("%v: rows without entries have norms %v", l, norms)
		}
		longest := slices.Repeat([]int64{-1 << 26}, 1<<12)
		if SquaredNorms(l, norms[:1], longest) {
			t.Errorf("%v: a row too long passed", l)
		}
		if !SquaredNorms(l, norms[:1], longest[1:]) || norms[0] != (1<<12-1)<<52 {
			t.Errorf("%v: the largest norm is %d", l, norms[0])
		}
	}
}

// checkNarrow places one entry at, and one beyond, a bound.
func checkNarrow(t *testing.T, rng *rand.Rand, c shape) {
	n := c.m + c.pairs
	x := draw[int64](rng, n, c.offset, math.MaxInt16, c.extreme)
	at := rng.IntN(n)
	for _, planted := range []int64{x[at], 1<<15 - 1, -1 << 15, 1 << 15, -1<<15 - 1, 1 << 16, -1 << 16, math.MaxInt64, math.MinInt64, 1 << 32, -1 << 48} {
		x[at] = planted
		fits := planted < 1<<15 && planted >= -1<<15
		for _, l := range cpu.Levels() {
			if within := planted < 1<<15 && planted > -1<<15; Within(l, x, math.MaxInt16) != within {
				t.Fatalf("%v: %d at %d of %d: within reports %v", l, planted, at, n, !within)
			}
			dst := make([]int16, n+c.offset)[c.offset:]
			if Narrow(l, dst, x) != fits {
				t.Fatalf("%v: %d at %d of %d: narrow reports %v", l, planted, at, n, !fits)
			}
			for i, v := range dst {
				if fits && int64(v) != x[i] {
					t.Fatalf("%v: entry %d of %d: %d became %d", l, i, n, x[i], v)
				}
			}
		}
	}
	for _, l := range cpu.Levels() {
		x[at] = math.MaxInt64
		if !Within(l, x, math.MaxInt64) || Within(l, x, math.MaxInt64-1) {
			t.Fatalf("%v: within at the largest bound", l)
		}
	}
}

// fenced is a slice with known entries before and after it.
type fenced struct {
	inner, whole []int64
	offset       int
}

const fence = 0x5ca1ab1e

func guarded(x []int64, offset int) fenced {
	whole := slices.Repeat([]int64{fence}, len(x)+offset+64)
	inner := whole[offset:][:len(x):len(x)]
	copy(inner, x)
	return fenced{inner, whole, offset}
}

func (f fenced) check(t *testing.T, l cpu.Level) {
	t.Helper()
	outside := slices.Concat(f.whole[:f.offset], f.whole[f.offset+len(f.inner):])
	if slices.ContainsFunc(outside, func(v int64) bool { return v != fence }) {
		t.Fatalf("%v: wrote outside its slice", l)
	}
}

func check(t *testing.T, seed uint64, m, pairs, k, n, each uint8, extreme bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	c := shape{int(m%40) + 1, int(pairs) + 1, int(k) + 1, int(seed % 8), extreme}
	checkSignProduct(t, rng, c)
	checkRows(t, rng, c, int(n%70)+1, int(each%8)+1)
	checkNarrow(t, rng, c)
	checkNorms(t, rng, c, int(n%70)+1)
}

// Every level equals the definition for all tails, misaligned slices and entries at the limits of
// the range.
func TestLevelsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		check(t, rng.Uint64(), uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), rng.IntN(2) == 0)
	}
	for n := uint8(0); n < 70; n++ {
		check(t, uint64(n), n, n%5, n, n, n, true)
	}
}

func FuzzKernels(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(0), uint8(0), uint8(0), uint8(0), false)
	f.Add(uint64(2), uint8(4), uint8(17), uint8(63), uint8(49), uint8(3), true)
	f.Add(uint64(3), uint8(5), uint8(255), uint8(64), uint8(7), uint8(7), true)
	f.Fuzz(check)
}

// Sums of more pairs than fit 32 bits are widened in time: all entries equal, all signs equal.
func TestBlocksDoNotOverflow(t *testing.T) {
	const pairs = 2*blockPairs + 1
	s := Signs{K: 1, Pairs: pairs, Words: make([]uint64, Words(1, pairs))}
	x := make([]int16, tileRows*2*pairs)
	for i := range x {
		x[i] = math.MinInt16
	}
	for _, l := range cpu.Levels() {
		y := make([]int64, tileRows)
		SignProduct(l, y, x, tileRows, s)
		for _, v := range y {
			if v != math.MinInt16*2*pairs {
				t.Errorf("%v: %d, want %d", l, v, int64(math.MinInt16*2*pairs))
			}
		}
	}
}

func TestWrongLengthsPanic(t *testing.T) {
	s := Signs{K: 64, Pairs: 1, Words: make([]uint64, 2)}
	for name, call := range map[string]func(cpu.Level){
		"y": func(l cpu.Level) { SignProduct(l, make([]int64, 63), make([]int16, 8), 1, s) },
		"x": func(l cpu.Level) { SignProduct(l, make([]int64, 64), make([]int16, 6), 1, s) },
		"signs": func(l cpu.Level) {
			SignProduct(l, make([]int64, 64), make([]int16, 8), 1, Signs{K: 65, Pairs: 1, Words: s.Words})
		},
		"rows":   func(cpu.Level) { s.Set(0, make([]byte, 9), 8) },
		"stride": func(cpu.Level) { s.Set(0, make([]byte, 7), 7) },
		"narrow": func(l cpu.Level) { Narrow(l, make([]int16, 16), make([]int64, 17)) },
		"bound":  func(l cpu.Level) { Within(l, make([]int64, 16), -1) },
		"width":  func(l cpu.Level) { AddRows(l, make([]int64, 16), make([]int64, 3), 2, make([]uint32, 1)) },
		"row":    func(l cpu.Level) { AddRows(l, make([]int64, 16), make([]int64, 2), 2, []uint32{Place(8, 0)}) },
		"no u":   func(l cpu.Level) { AddRows(l, nil, make([]int64, 2), 2, []uint32{0}) },
		"ending": func(l cpu.Level) { AddRows(l, make([]int64, 16), make([]int64, 2), 2, []uint32{Place(5, 0)}, 1) },
		"norms":  func(l cpu.Level) { SquaredNorms(l, make([]uint64, 2), make([]int64, 3)) },
		"places": func(l cpu.Level) { AddRows(l, make([]int64, 16), make([]int64, 4), 2, make([]uint32, 3)) },
	} {
		for _, l := range cpu.Levels() {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v: wrong length of %s passed", l, name)
					}
				}()
				call(l)
			}()
		}
	}
}

func TestSet(t *testing.T) {
	s := Signs{K: 70, Pairs: 2, Words: make([]uint64, Words(70, 2))}
	rows := make([]byte, 3*9)
	binary.LittleEndian.PutUint64(rows, 1<<33|1)
	rows[9+8] = 1 << 5 // row 1, column 69
	rows[2*9+4] = 1    // row 2, column 32
	s.Set(0, rows, 9)
	if want := []uint64{1, 1 << 2, 0, 3, 1 << 11, 0, 0, 0}; !slices.Equal(s.Words, want) {
		t.Errorf("words %x, want %x", s.Words, want)
	}
}

// Records side: 64 records of 1,024 columns, to k = 256 and k = 64, already int16.
func BenchmarkSignProduct(b *testing.B) {
	const m, d = 64, 1024
	rng := rand.New(rand.NewPCG(1, 2))
	for _, k := range []int{256, 64} {
		s, _ := drawSigns(rng, k, d/2)
		x := draw[int16](rng, m*d, 0, 1<<14, false)
		y := make([]int64, m*k)
		for _, l := range cpu.Levels() {
			b.Run("k="+strconv.Itoa(k)+"/"+l.String(), func(b *testing.B) {
				for b.Loop() {
					SignProduct(l, y, x, m, s)
				}
				b.ReportMetric(float64(m*d*k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
			})
		}
	}
}

// Columns side, places given: records of 50 columns, from memory, into 16,384 rows.
func BenchmarkAddRows(b *testing.B) {
	const m, n, k = 1 << 17, 50, 16384
	rng := rand.New(rand.NewPCG(1, 2))
	x, u := draw[int64](rng, m*n, 0, 1<<14, false), make([]int64, k*n)
	places := make([]uint32, m)
	for i := range places {
		places[i] = Place(uint32(rng.IntN(k)), rng.Uint32()&1)
	}
	for _, l := range cpu.Levels() {
		b.Run(l.String(), func(b *testing.B) {
			for b.Loop() {
				AddRows(l, u, x, n, places)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*m), "ns/record")
		})
	}
}

// Records of 50 columns, from memory.
func BenchmarkSquaredNorms(b *testing.B) {
	const m, n = 1 << 17, 50
	x, norms := draw[int64](rand.New(rand.NewPCG(1, 2)), m*n, 0, 1<<14, false), make([]uint64, m)
	for _, l := range cpu.Levels() {
		b.Run(l.String(), func(b *testing.B) {
			for b.Loop() {
				SquaredNorms(l, norms, x)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*m), "ns/record")
		})
	}
}

func BenchmarkNarrow(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, dst := draw[int64](rng, 1024, 0, 1<<14, false), make([]int16, 1024)
	for _, l := range cpu.Levels() {
		b.Run(l.String(), func(b *testing.B) {
			b.SetBytes(8 * 1024)
			for b.Loop() {
				Narrow(l, dst, x)
			}
		})
	}
}
