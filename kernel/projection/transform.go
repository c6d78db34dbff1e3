package projection

import "github.com/cosketch/cosketch/kernel/projection/kernels"

// transform multiplies records by a sampled, signed Hadamard matrix. Records of up to 16 bits and
// orders up to kernels.MostHadamard use the machine's fastest kernel, all others 64-bit arithmetic.
// It is immutable.
type transform struct {
	size  int     // d', a power of two
	keep  []int32 // columns of the Hadamard matrix, by entry of a projected record
	minus []int64 // for each column of the data: −1 if its sign is −, else 0
	fast  *kernels.Hadamard
}

// newTransform returns the transform that keeps some of the columns of a Hadamard matrix of order
// size, and flips the signs of the data's columns for which minus is −1.
func newTransform(size int, keep []int32, minus []int64) *transform {
	t := &transform{size: size, keep: keep, minus: minus}
	if size < kernels.LeastHadamard || size > kernels.MostHadamard {
		return t
	}
	signs := make([]int16, size) // signs of the zero padding: any
	for j := range signs {
		signs[j] = 1
	}
	for j, m := range minus {
		signs[j] += int16(2 * m)
	}
	h := kernels.NewHadamard(signs, keep)
	t.fast = &h
	return t
}

func (t *transform) multiply(y, x []int64, s *scratch) {
	k, d := len(t.keep), len(t.minus)
	if t.fast == nil {
		t.wide(y, x, s)
		return
	}
	words, narrow := grow(&s.numbers, t.size/2), grow(&s.narrow, t.size)
	clear(narrow[d:])
	for i := range len(x) / d {
		yi, xi := y[i*k:(i+1)*k], x[i*d:(i+1)*d]
		if kernels.Narrow(s.level, narrow[:d], xi) {
			kernels.HadamardProduct(s.level, yi, narrow, *t.fast, words)
		} else {
			t.wide(yi, xi, s)
		}
	}
}

// wide transforms records in 64-bit arithmetic.
func (t *transform) wide(y, x []int64, s *scratch) {
	k, d := len(t.keep), len(t.minus)
	words := grow(&s.numbers, t.size)
	for i := range len(x) / d {
		for j, v := range x[i*d : (i+1)*d] {
			words[j] = (v ^ t.minus[j]) - t.minus[j]
		}
		clear(words[d:])
		kernels.WalshHadamard(words)
		for j, column := range t.keep {
			y[i*k+j] = words[column]
		}
	}
}
