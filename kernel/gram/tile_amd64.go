//go:build amd64 && !purego

package gram

import "github.com/cosketch/cosketch/kernel/cpu"

//go:noescape
func tileAVX2(sums *[tileEntries]int64, a, b *int32, rows int)

//go:noescape
func tileAVX512(sums *[tileEntries]int64, a, b *int32, rows int)

// tile is tileGo at the given level.
func tile(level cpu.Level, sums *[tileEntries]int64, a, b []int32, rows int) {
	_, _ = a[(rows-1)*panelWidth+tileRows-1], b[rows*panelWidth-1]
	switch level {
	case cpu.AVX512:
		tileAVX512(sums, &a[0], &b[0], rows)
	case cpu.AVX2:
		tileAVX2(sums, &a[0], &b[0], rows)
	default:
		tileGo(sums, a, b, rows)
	}
}
