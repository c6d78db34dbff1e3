package kernels

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/cpu"
)

// Narrow writes x to dst, of the same length, as int16. It reports whether every entry fits; if
// not, dst is undefined.
func Narrow(l cpu.Level, dst []int16, x []int64) bool {
	if len(dst) != len(x) {
		panic(fmt.Sprintf("kernels: narrowing %d entries to %d", len(x), len(dst)))
	}
	from, fits := 0, true
	if l != cpu.Go && len(x) >= narrowStep {
		from = len(x) / narrowStep * narrowStep
		fits = narrowAVX2(&dst[0], &x[0], from)
	}
	for i, v := range x[from:] {
		dst[from+i] = int16(v)
		fits = fits && int64(int16(v)) == v
	}
	return fits
}

// narrowStep is the number of entries that the assembly of narrow and within takes per step.
const narrowStep = 16

// Within reports whether every entry of x is between −bound and bound. It panics if bound is
// negative.
func Within(l cpu.Level, x []int64, bound int64) bool {
	if bound < 0 {
		panic("kernels: a negative bound")
	}
	from := 0
	if l != cpu.Go && len(x) >= narrowStep {
		from = len(x) / narrowStep * narrowStep
		if !withinAVX2(&x[0], from, bound) {
			return false
		}
	}
	for _, v := range x[from:] {
		if v > bound || v < -bound {
			return false
		}
	}
	return true
}

// AddRows adds rows of x, m × n, each followed by the same ending, to rows of u. Rows of u have n +
// len(ending) entries. places holds the same number of entries for each row of x; each names a row
// of u and a sign, as Place encodes them. It panics if a place is beyond u.
func AddRows(l cpu.Level, u, x []int64, n int, places []uint32, ending ...int64) {
	width := n + len(ending)
	if n < 1 || len(x)%n != 0 || len(u)%width != 0 || len(x) > 0 && len(places)%(len(x)/n) != 0 {
		panic(fmt.Sprintf("kernels: adding %d rows of x, %d entries, to %d entries, with width %d and %d more", len(places), len(x), len(u), n, len(ending)))
	}
	if len(x) == 0 || len(places) == 0 {
		return
	}
	records := len(x) / n
	each := len(places) / records
	if last := slices.Max(places); int(last>>1) >= len(u)/width {
		panic(fmt.Sprintf("kernels: adding to row %d of %d", last>>1, len(u)/width))
	}
	if l != cpu.Go {
		var end *int64
		if len(ending) > 0 {
			end = &ending[0]
		}
		addRowsAVX2(&u[0], &x[0], n, records, &places[0], each, end, len(ending))
		return
	}
	for i := range records {
		for _, p := range places[i*each:][:each] {
			row := u[int(p>>1)*width:][:width]
			addSigned(row, x[i*n:][:n], p&1)
			addSigned(row[n:], ending, p&1)
		}
	}
}

// Place encodes a row of u and a sign for AddRows: negative is 0 for +1, 1 for −1.
func Place(row uint32, negative uint32) uint32 { return row<<1 | negative }

// addSigned adds x, or −x, to the first entries of u.
func addSigned(u, x []int64, negative uint32) {
	u = u[:len(x)]
	mask := -int64(negative) // a branch would be mispredicted half the time
	for i, v := range x {
		u[i] += (v ^ mask) - mask
	}
}
