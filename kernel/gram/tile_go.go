//go:build !amd64 || purego

package gram

import "github.com/cosketch/cosketch/kernel/cpu"

// tile is tileGo: this build has no other level.
func tile(_ cpu.Level, sums *[tileEntries]int64, a, b []int32, rows int) {
	tileGo(sums, a, b, rows)
}
