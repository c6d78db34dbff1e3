package gram

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cpu"
	"github.com/cosketch/cosketch/kernel/parallel"
)

// MaxColumns is the largest number of columns of a matrix: its entries take 8 bytes each, twice.
const MaxColumns = 20_000

// Of returns the n × n matrix of inner products of the columns of data, k × n
// row-major, each rounded to the nearest float64. It uses all processors.
func Of(ctx context.Context, data []int64, k, n int) (*mat.SymDense, error) {
	return of(ctx, cpu.Best(), data, k, n, nil)
}

// OfColumns returns the matrix of the given columns out of n, in their order. It reads the rows
// once and does not copy them, so they may be in a mapped file.
func OfColumns(ctx context.Context, data []int64, k, n int, columns []int) (*mat.SymDense, error) {
	for _, c := range columns {
		if c < 0 || c >= n {
			return nil, fmt.Errorf("computing the gram matrix: column %d of %d", c, n)
		}
	}
	if len(columns) == 0 {
		return nil, errors.New("computing the gram matrix: no columns were named")
	}
	return of(ctx, cpu.Best(), data, k, n, columns)
}

// of takes all columns if columns is nil.
func of(ctx context.Context, level cpu.Level, data []int64, k, n int, columns []int) (*mat.SymDense, error) {
	switch {
	case k < 1 || n < 1 || len(data)/n != k || len(data)%n != 0:
		return nil, fmt.Errorf("computing the gram matrix: %d entries are not %d × %d", len(data), k, n)
	case n > MaxColumns:
		return nil, fmt.Errorf("computing the gram matrix: %d columns are too many: at most %d are possible", n, MaxColumns)
	}
	s := newSums(level, data, k, n, columns)
	if s.largest > math.MaxInt32 {
		return s.slow(ctx)
	}
	for from := 0; from < k; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows := min(k-from, s.blockRows())
		s.add(from, rows)
		from += rows
	}
	return s.rounded(), nil
}

// blockRows is the largest number of rows that are added at once: both panels of a tile stay in the
// first-level cache, and all panels in the second.
const blockRows = 256

// sums adds up the products of columns, in tiles. Tile t of panel i with panel j ≤ i
// has the number (i(i+1)/2 + j)·2 + h for half h of panel j.
type sums struct {
	level   cpu.Level
	data    []int64
	k, all  int   // rows and columns of the data
	n       int   // columns that are multiplied
	columns []int // their indices; nil: all
	panels  int
	largest uint64 // absolute value of all entries
	packed  []int32
	tiles   [][tileEntries]int64
	bound   uint64 // on the absolute values of the tiles' entries
	wide    []wide // sums of the tiles' entries when they were last emptied, in their order; nil if never
}

func newSums(level cpu.Level, data []int64, k, all int, columns []int) *sums {
	s := &sums{level: level, data: data, k: k, all: all, n: all, columns: columns}
	if columns != nil {
		s.n = len(columns)
	}
	s.panels = (s.n + panelWidth - 1) / panelWidth
	shares := make([]uint64, (k+blockRows-1)/blockRows)
	parallel.For(len(shares), func(i int) {
		to := min((i+1)*blockRows, k)
		if columns == nil {
			shares[i] = largest(data[i*blockRows*all : to*all])
			return
		}
		row := make([]int64, len(columns))
		for at := i * blockRows; at < to; at++ {
			shares[i] = max(shares[i], largest(s.row(at, row)))
		}
	})
	for _, v := range shares {
		s.largest = max(s.largest, v)
	}
	return s
}

// row returns row i with only the columns that are multiplied. It may use into.
func (s *sums) row(i int, into []int64) []int64 {
	row := s.data[i*s.all:][:s.all]
	if s.columns == nil {
		return row
	}
	for at, c := range s.columns {
		into[at] = row[c]
	}
	return into
}

// largest returns the largest absolute value.
func largest(data []int64) (most uint64) {
	var low, high int64
	for _, v := range data {
		low, high = min(low, v), max(high, v)
	}
	return max(uint64(high), uint64(-(low+1))+1)
}

// blockRows returns the number of rows that are sure to be summed exactly at once.
func (s *sums) blockRows() int {
	if s.largest == 0 {
		return blockRows
	}
	return int(min(blockRows, math.MaxInt64/(s.largest*s.largest)))
}

// add adds the products of some rows.
func (s *sums) add(from, rows int) {
	if s.tiles == nil {
		s.packed = make([]int32, s.panels*blockRows*panelWidth)
		s.tiles = make([][tileEntries]int64, s.panels*(s.panels+1))
	}
	more := uint64(rows) * s.largest * s.largest
	if s.bound > math.MaxInt64-more {
		s.flush()
	}
	s.bound += more
	const each = 16
	parallel.For((rows+each-1)/each, func(i int) { s.pack(from, i*each, min((i+1)*each, rows)) })
	parallel.For(s.panels, func(i int) {
		i = s.panels - 1 - i // the longest first
		right := s.packed[i*blockRows*panelWidth:]
		for j := range i + 1 {
			left := s.packed[j*blockRows*panelWidth:]
			at := (i*(i+1)/2 + j) * 2
			tile(s.level, &s.tiles[at], left, right, rows)
			tile(s.level, &s.tiles[at+1], left[tileRows:], right, rows)
		}
	})
}

// pack copies rows of the data into panels. Entries beyond the last column stay zero.
func (s *sums) pack(base, from, to int) {
	own := make([]int64, len(s.columns))
	for i := from; i < to; i++ {
		row := s.row(base+i, own)
		for p := 0; len(row) > 0; p++ {
			width := min(panelWidth, len(row))
			out := s.packed[(p*blockRows+i)*panelWidth:][:width]
			for c, v := range row[:width] {
				out[c] = int32(v)
			}
			row = row[width:]
		}
	}
}

// flush moves the sums of the tiles to 128 bits and clears the tiles.
func (s *sums) flush() {
	if s.wide == nil {
		s.wide = make([]wide, len(s.tiles)*tileEntries)
	}
	for t := range s.tiles {
		out := s.wide[t*tileEntries:][:tileEntries]
		for i, v := range s.tiles[t] {
			out[i] = out[i].plus(v)
		}
		s.tiles[t] = [tileEntries]int64{}
	}
	s.bound = 0
}

// rounded returns the matrix of all rows added so far.
func (s *sums) rounded() *mat.SymDense {
	out := mat.NewSymDense(s.n, nil)
	raw := out.RawSymmetric()
	parallel.For(s.n, func(i int) {
		for j := i; j < s.n; j++ {
			p, q := j/panelWidth, i/panelWidth
			row, column := i%panelWidth, j%panelWidth
			t := (p*(p+1)/2+q)*2 + row/tileRows
			at := place(row%tileRows, column)
			sum := s.tiles[t][at]
			raw.Data[i*raw.Stride+j] = float64(sum)
			if s.wide != nil {
				raw.Data[i*raw.Stride+j] = s.wide[t*tileEntries+at].plus(sum).float()
			}
		}
	})
	return out
}

// slow returns the matrix by multiplication in 128 bits.
func (s *sums) slow(ctx context.Context) (*mat.SymDense, error) {
	column := func(j int, into []int64) []int64 {
		if s.columns != nil {
			j = s.columns[j]
		}
		for i := range into {
			into[i] = s.data[i*s.all+j]
		}
		return into
	}
	out := mat.NewSymDense(s.n, nil)
	raw := out.RawSymmetric()
	var lost atomic.Bool
	parallel.For(s.n, func(i int) {
		x, y := column(i, make([]int64, s.k)), make([]int64, s.k)
		for j := i; j < s.n && ctx.Err() == nil; j++ {
			sum, ok := wideProduct(x, column(j, y))
			if !ok {
				lost.Store(true)
			}
			raw.Data[i*raw.Stride+j] = sum.float()
		}
	})
	if lost.Load() {
		return nil, fmt.Errorf("computing the gram matrix: the entries of the sketch are too large: a product of columns is beyond 2^127")
	}
	return out, ctx.Err()
}

// wide is an integer of 128 bits in two's complement.
type wide struct {
	high int64
	low  uint64
}

func (w wide) plus(v int64) wide {
	low, carry := bits.Add64(w.low, uint64(v), 0)
	return wide{w.high + v>>63 + int64(carry), low}
}

// wideProduct returns the inner product of two columns; ok is false if the squares of their entries
// alone could exceed 128 bits.
func wideProduct(x, y []int64) (sum wide, ok bool) {
	ok = true
	for i, v := range x {
		high, low := bits.Mul64(uint64(v), uint64(y[i]))
		high -= uint64(v>>63)&uint64(y[i]) + uint64(y[i]>>63)&uint64(v) // correction for signed factors
		var carry uint64
		sum.low, carry = bits.Add64(sum.low, low, 0)
		before, add := sum.high, int64(high)
		sum.high += add + int64(carry)
		if (before < 0) == (add < 0) && (sum.high < 0) != (before < 0) {
			ok = false
		}
	}
	return sum, ok
}

// float returns the nearest float64; ties go to the even one.
func (w wide) float() float64 {
	negative := w.high < 0
	high, low := uint64(w.high), w.low
	if negative {
		var carry uint64
		low, carry = bits.Add64(^low, 1, 0)
		high = ^high + carry
	}
	out := float64(low)
	if high != 0 {
		// The upper 64 bits, with the last bit set if any bit that is cut off is set.
		shift := bits.Len64(high)
		top := high<<(64-shift) | low>>shift
		if low<<(64-shift) != 0 {
			top |= 1
		}
		out = math.Ldexp(float64(top), shift)
	}
	if negative {
		return -out
	}
	return out
}
