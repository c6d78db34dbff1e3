package kernels

import (
	"fmt"
	"math/bits"

	"github.com/cosketch/cosketch/kernel/cpu"
)

// Least and largest order of a Hadamard. Beyond the largest, sums of int16 entries could overflow
// int32.
const (
	LeastHadamard = 2
	MostHadamard  = 1 << 15
)

// Hadamard is a selection of columns of Sylvester's Hadamard matrix, with a sign for each row.
// Entry (i, j) of Sylvester's matrix is (−1)^b, where b is the number of one bits of i AND j. It is
// immutable.
type Hadamard struct {
	signs  []int16 // ±1 for each row
	keep   []int32 // the columns
	places []int32 // where the assembly leaves the sums of the columns
}

// NewHadamard returns the matrix with these signs, ±1 for each row, and these columns. Neither
// slice may be changed afterwards. It panics if the order is out of range or not a power of two, or
// if a column does not exist.
func NewHadamard(signs []int16, columns []int32) Hadamard {
	n := len(signs)
	if n < LeastHadamard || n > MostHadamard || bits.OnesCount(uint(n)) != 1 {
		panic(fmt.Sprintf("kernels: a Hadamard matrix of order %d", n))
	}
	h := Hadamard{signs: signs, keep: columns, places: make([]int32, len(columns))}
	for i, c := range columns {
		if c < 0 || int(c) >= n {
			panic(fmt.Sprintf("kernels: column %d of a Hadamard matrix of order %d", c, n))
		}
		h.places[i] = c&^7 | c>>1&1<<2 | c&1<<1 | c>>2&1 // see hadamard_amd64.s
	}
	return h
}

func (h Hadamard) Order() int { return len(h.signs) }

// HadamardProduct overwrites y, one entry for each column of h, with the product of x, one entry
// for each row, and h. words is scratch memory of half the length of x.
func HadamardProduct(l cpu.Level, y []int64, x []int16, h Hadamard, words []int64) {
	n := h.Order()
	if len(y) != len(h.keep) || len(x) != n || len(words) != n/2 {
		panic(fmt.Sprintf("kernels: Hadamard product of %d by %d × %d to %d, with %d words", len(x), n, len(h.keep), len(y), len(words)))
	}
	if l == cpu.Go || n < hadamardBlock || len(y) == 0 {
		hadamardGo(y, x, h, words)
		return
	}
	// A word now holds two 32-bit sums. The first step makes many small transforms; each later step
	// combines eight, or two, into one.
	size := hadamardBlocks(l, &words[0], &x[0], &h.signs[0], n)
	for ; size*8 <= len(words); size *= 8 {
		for from := 0; from < len(words); from += 8 * size {
			hadamardEights(l, &words[from], size)
		}
	}
	for ; size < len(words); size *= 2 {
		for from := 0; from < len(words); from += 2 * size {
			twosAVX2(&words[from], size)
		}
	}
	gather(&y[0], &words[0], &h.places[0], len(y))
}

// hadamardBlock is the least order that the assembly supports.
const hadamardBlock = 128

// hadamardGo is the product in Go. The matrix of order 2h consists of four copies of the matrix of
// order h, one of them negated. So the transform of a vector is the sum and the difference of the
// transforms of its halves. These two are computed at once: a word holds an entry a of the first
// half and b of the second as a·2^32 + b. That is linear in a and b, so adding words adds both.
// They can be separated again exactly, as |a| and |b| stay below 2^31.
func hadamardGo(y []int64, x []int16, h Hadamard, words []int64) {
	half := len(words)
	first, second := x[:half], x[half:][:half]
	signs, others := h.signs[:half], h.signs[half:][:half]
	for j := range words {
		words[j] = int64(first[j])*int64(signs[j])<<32 + int64(second[j])*int64(others[j])
	}
	WalshHadamard(words)
	for i, column := range h.keep {
		w := words[int(column)&(half-1)]
		b := int64(int32(w))
		a := (w - b) >> 32
		if int(column)&half != 0 {
			b = -b
		}
		y[i] = a + b
	}
}

// WalshHadamard replaces v by its product with Sylvester's Hadamard matrix. The length of v must be
// a power of two.
func WalshHadamard(v []int64) {
	h := 1
	if len(v) >= 8 {
		eights(v)
		h = 8
	}
	for ; 4*h <= len(v); h *= 4 {
		fours(v, h)
	}
	if h < len(v) {
		twos(v, h)
	}
}

// eights is the first three steps of the transform.
func eights(v []int64) {
	for ; len(v) >= 8; v = v[8:] {
		a, b, c, d := v[0]+v[1], v[0]-v[1], v[2]+v[3], v[2]-v[3]
		e, f, g, h := v[4]+v[5], v[4]-v[5], v[6]+v[7], v[6]-v[7]
		a, b, c, d = a+c, b+d, a-c, b-d
		e, f, g, h = e+g, f+h, e-g, f-h
		v[0], v[1], v[2], v[3] = a+e, b+f, c+g, d+h
		v[4], v[5], v[6], v[7] = a-e, b-f, c-g, d-h
	}
}

// fours is two steps of the transform, for blocks of h and 2h.
func fours(v []int64, h int) {
	for ; len(v) >= 4*h; v = v[4*h:] {
		v0, v1, v2, v3 := v[:h], v[h:][:h], v[2*h:][:h], v[3*h:][:h]
		for i := range v0 {
			a, b, c, d := v0[i]+v1[i], v0[i]-v1[i], v2[i]+v3[i], v2[i]-v3[i]
			v0[i], v1[i], v2[i], v3[i] = a+c, b+d, a-c, b-d
		}
	}
}

// twos is one step of the transform, for blocks of h.
func twos(v []int64, h int) {
	for ; len(v) >= 2*h; v = v[2*h:] {
		v0, v1 := v[:h], v[h:][:h]
		for i := range v0 {
			v0[i], v1[i] = v0[i]+v1[i], v0[i]-v1[i]
		}
	}
}
