package dp

import (
	"math"
	"math/bits"
)

// ClipL2 scales v down to l2 norm ≤ bound, in place, and reports whether it had to. A vector within
// the bound is left alone. All arithmetic is on integers, so every machine gives the same bits:
// with N = ⌈|v|₂⌉ each entry becomes v·bound/N truncated towards zero, so that the squares add up
// to at most |v|₂²·bound²/N² ≤ bound². A bound ≤ 0 clears the vector. Any int64 entries are
// accepted: while the squared norm exceeds 2^126, all entries are halved first.
func ClipL2(v []int64, bound int64) (clipped bool) {
	if bound <= 0 {
		clipped = anyNonZero(v)
		clear(v)
		return clipped
	}
	limit := multiply(uint64(bound), uint64(bound))
	square, fits := squaredNorm(v)
	if fits && !limit.less(square) {
		return false
	}
	for !fits {
		for i := range v {
			v[i] /= 2
		}
		square, fits = squaredNorm(v)
	}
	norm := square.root()
	if multiply(norm, norm).less(square) {
		norm++
	}
	if norm <= uint64(bound) {
		return true // the halving was enough
	}
	scale(v, uint64(bound), norm)
	return true
}

// RemainingClip returns ⌊√(clip² − fixed²)⌋, for a record of which one entry, fixed, is not clipped. If
// the other entries are clipped to it, the whole record is within clip. It is 0 if |fixed| ≥ clip.
func RemainingClip(clip, fixed int64) int64 {
	if clip <= 0 || magnitude(fixed) >= uint64(clip) {
		return 0
	}
	left := multiply(uint64(clip), uint64(clip)).minus(multiply(magnitude(fixed), magnitude(fixed)))
	return int64(left.root())
}

// CeilSqrt returns ⌈√square⌉, the least integer bound on the norm of a vector with that squared norm.
func CeilSqrt(square int64) int64 {
	n := int64(uint128{lo: magnitude(max(square, 0))}.root())
	if n*n < square {
		n++
	}
	return n
}

// scale sets every entry to v·bound/norm, truncated towards zero, for |v| ≤ norm and
// bound < norm.
func scale(v []int64, bound, norm uint64) {
	if norm < 1<<21 {
		scaleSmall(v, bound, norm)
		return
	}
	for i, x := range v {
		p := multiply(magnitude(x), bound)
		q, _ := bits.Div64(p.hi, p.lo, norm) // ≤ bound
		v[i] = int64(q)
		if x < 0 {
			v[i] = -v[i]
		}
	}
}

// scaleSmall is scale for norm < 2^21, the usual case, with one division for all entries. With i =
// ⌈2^64/norm⌉ and p = |v|·bound, i·p/2^64 exceeds p/norm by less than p/2^64, which is below 1/norm
// as p·norm < norm³ < 2^63: too little to reach the next integer.
func scaleSmall(v []int64, bound, norm uint64) {
	inverse := math.MaxUint64/norm + 1
	for i, x := range v {
		q, _ := bits.Mul64(inverse, magnitude(x)*bound)
		minus := x >> 63 // without a branch, which would be unpredictable
		v[i] = (int64(q) ^ minus) - minus
	}
}

// squaredNorm returns Σv², or false if it exceeds 2^126.
func squaredNorm(v []int64) (sum uint128, fits bool) {
	if square, ok := smallSquaredNorm(v); ok {
		return uint128{lo: square}, true
	}
	for _, x := range v {
		p := multiply(magnitude(x), magnitude(x))
		var carry uint64
		sum.lo, carry = bits.Add64(sum.lo, p.lo, 0)
		sum.hi, _ = bits.Add64(sum.hi, p.hi, carry)
		if sum.hi >= 1<<62 { // below it, adding one more square cannot wrap
			return uint128{}, false
		}
	}
	return sum, true
}

// smallSquaredNorm returns Σv² for fewer than 2^12 entries of magnitude at most 2^26, the usual
// case: the sum then fits one word. It reports false for others.
func smallSquaredNorm(v []int64) (sum uint64, ok bool) {
	if len(v) >= 1<<12 {
		return 0, false
	}
	const most = 1 << 26
	var other, all uint64          // all: every bit set in an entry plus most, which is below 2·most
	for ; len(v) >= 4; v = v[4:] { // two independent sums: an addition waits for the one before
		a, b, c, d := v[0], v[1], v[2], v[3]
		all |= uint64(a+most) | uint64(b+most) | uint64(c+most) | uint64(d+most)
		sum += uint64(a*a) + uint64(b*b)
		other += uint64(c*c) + uint64(d*d)
	}
	for _, x := range v {
		all |= uint64(x + most)
		sum += uint64(x * x)
	}
	return sum + other, all < 2*most
}

func anyNonZero(v []int64) bool {
	for _, x := range v {
		if x != 0 {
			return true
		}
	}
	return false
}
