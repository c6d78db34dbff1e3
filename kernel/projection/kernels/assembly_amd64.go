//go:build amd64 && !purego

package kernels

import "github.com/cosketch/cosketch/kernel/cpu"

//go:noescape
func signTileAVX2(y *int64, yStride int, x *int16, xStride int, signs *uint64, pairs int)

//go:noescape
func signTileAVX512(y *int64, yStride int, x *int16, xStride int, signs *uint64, pairs int)

//go:noescape
func blocksAVX2(v *int64, x, signs *int16, blocks int)

//go:noescape
func blocksAVX512(v *int64, x, signs *int16, blocks int)

//go:noescape
func eightsAVX2(v *int64, h int)

//go:noescape
func eightsAVX512(v *int64, h int)

// These are bound by memory, so both levels share one form.

//go:noescape
func narrowAVX2(dst *int16, src *int64, n int) bool

//go:noescape
func withinAVX2(x *int64, n int, bound int64) bool

//go:noescape
func addRowsAVX2(u, x *int64, n, records int, places *uint32, each int, ending *int64, more int)

//go:noescape
func squaredNormsAVX2(norms *uint64, x *int64, n, records int) bool

//go:noescape
func twosAVX2(v *int64, h int)

//go:noescape
func gather(y, v *int64, places *int32, n int)

func signTile(l cpu.Level, y *int64, yStride int, x *int16, xStride int, signs *uint64, pairs int) {
	if l == cpu.AVX512 {
		signTileAVX512(y, yStride, x, xStride, signs, pairs)
	} else {
		signTileAVX2(y, yStride, x, xStride, signs, pairs)
	}
}

// hadamardBlocks transforms n entries in blocks, and returns the number of words per block.
func hadamardBlocks(l cpu.Level, v *int64, x, signs *int16, n int) int {
	if l == cpu.AVX512 {
		blocksAVX512(v, x, signs, n/128)
		return 64
	}
	blocksAVX2(v, x, signs, n/64)
	return 32
}

func hadamardEights(l cpu.Level, v *int64, h int) {
	if l == cpu.AVX512 {
		eightsAVX512(v, h)
	} else {
		eightsAVX2(v, h)
	}
}
