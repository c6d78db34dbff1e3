package projection

import _ "embed"

// gaussianTable is the inverse of a distribution function, as little-endian integers: first the
// guide, 2^15 + 1 integers of 16 bits, then the thresholds, 32768 of 64 bits. Threshold j, from 1,
// is round(2^63·P(|N(0,1)| < (j − 1/2)/4096)). The last one is 2^63, which is never reached. Entry
// g of the guide is the number of thresholds that are at most g·2^48. The test of this file writes
// the table, with -update.
//
//go:embed gaussian.table
var gaussianTable string

// magnitude returns the number of thresholds that are at most u, a 63-bit integer:
// |round(4096·N(0,1))| for a uniform u. One comparison suffices for 19 of 20 values, and it has no
// branch to mispredict.
func magnitude(u uint64) int {
	g := int(u >> guideShift)
	low, high := guide(g), guide(g+1)
	if high-low <= 1 {
		return low + int((threshold(low+1)-u-1)>>63) // a negative difference has its high bit set
	}
	for low < high {
		middle := (low + high) >> 1
		if threshold(middle+1) <= u {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func guide(g int) int {
	b := gaussianTable[2*g : 2*g+2]
	return int(b[0]) | int(b[1])<<8
}

func threshold(j int) uint64 {
	b := gaussianTable[guideBytes+8*(j-1):][:8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
