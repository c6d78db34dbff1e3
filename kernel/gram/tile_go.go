//go:build !amd64 || purego

package gram

import "github.com/cosketch/cosketch/kernel/projection/kernels"

// tile is tileGo: this build has no other level.
func tile(_ kernels.Level, sums *[tileEntries]int64, a, b []int32, rows int) {
	tileGo(sums, a, b, rows)
}
