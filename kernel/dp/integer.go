package dp

import (
	"errors"
	"math"
	"math/bits"
)

var errOverflow = errors.New("does not fit in 63 bits")

// product multiplies non-negative integers and reports an overflow of int64.
func product(factors ...int64) (int64, error) {
	p := uint64(1)
	for _, f := range factors {
		hi, lo := bits.Mul64(p, uint64(f))
		if f < 0 || hi != 0 || lo > 1<<63-1 {
			return 0, errOverflow
		}
		p = lo
	}
	return int64(p), nil
}

// magnitude returns |v|, also for the minimum int64.
func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// uint128 is an unsigned integer of two words.
type uint128 struct{ hi, lo uint64 }

func multiply(a, b uint64) uint128 {
	hi, lo := bits.Mul64(a, b)
	return uint128{hi, lo}
}

func (a uint128) less(b uint128) bool {
	return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo
}

// minus returns a - b for b ≤ a.
func (a uint128) minus(b uint128) uint128 {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return uint128{hi, lo}
}

// plus returns a + b where the sum fits.
func (a uint128) plus(b uint128) uint128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return uint128{hi, lo}
}

// over returns ⌊a/b⌋ for b of one word and a quotient of one word.
func (a uint128) over(b uint128) uint64 {
	q, _ := bits.Div64(a.hi, a.lo, b.lo)
	return q
}

// shifted returns a·2^n for 0 ≤ n < 128 where the product fits.
func (a uint128) shifted(n uint) uint128 {
	if n >= 64 {
		return uint128{a.lo << (n - 64), 0}
	}
	return uint128{a.hi<<n | a.lo>>(64-n), a.lo << n}
}

// leadingZeros returns the number of leading zero bits of 128.
func (a uint128) leadingZeros() uint {
	if a.hi != 0 {
		return uint(bits.LeadingZeros64(a.hi))
	}
	return 64 + uint(bits.LeadingZeros64(a.lo))
}

// root returns ⌊√a⌋ for a < 2^126. If float64 holds a, it starts from the float64 root, which IEEE
// 754 defines to the bit and which may have been rounded up; otherwise it goes one bit at a time.
func (a uint128) root() uint64 {
	if a.hi == 0 && a.lo < 1<<53 {
		r := uint64(math.Sqrt(float64(a.lo)))
		if r*r > a.lo {
			r--
		}
		return r
	}
	r := uint64(0)
	for bit := uint64(1) << ((128 - a.leadingZeros()) / 2); bit > 0; bit >>= 1 {
		if !a.less(multiply(r|bit, r|bit)) {
			r |= bit
		}
	}
	return r
}
