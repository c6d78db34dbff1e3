//go:build amd64 && !purego

package kernels

import "golang.org/x/sys/cpu"

// Best returns the fastest level that this machine has.
func Best() Level {
	switch x := &cpu.X86; {
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VNNI && x.HasAVX2:
		return AVX512
	case x.HasAVX2:
		return AVX2
	}
	return Go
}

//go:noescape
func signTileAVX2(y *int64, yStride int, x *int16, xStride int, signs *uint64, pairs int)

//go:noescape
func signTileAVX512(y *int64, yStride int, x *int16, xStride int, signs *uint64, pairs int)

//go:noescape
func narrowAVX2(dst *int16, src *int64, n int) bool

//go:noescape
func withinAVX2(x *int64, n int, bound int64) bool

//go:noescape
func addRowsAVX2(u, x *int64, n, records int, places *uint32, each int, ending *int64, more int)

//go:noescape
func squaredNormsAVX2(norms *uint64, x *int64, n, records int) bool

//go:noescape
func blocksAVX2(v *int64, x, signs *int16, blocks int)

//go:noescape
func blocksAVX512(v *int64, x, signs *int16, blocks int)

//go:noescape
func eightsAVX2(v *int64, h int)

//go:noescape
func eightsAVX512(v *int64, h int)

//go:noescape
func twosAVX2(v *int64, h int)

//go:noescape
func gather(y, v *int64, places *int32, n int)

func (l Level) signTile(y *int64, yStride int, x *int16, xStride int, signs *uint64, pairs int) {
	if l == AVX512 {
		signTileAVX512(y, yStride, x, xStride, signs, pairs)
	} else {
		signTileAVX2(y, yStride, x, xStride, signs, pairs)
	}
}

// hadamardBlocks transforms n entries in blocks, and returns the words of a block.
func (l Level) hadamardBlocks(v *int64, x, signs *int16, n int) int {
	if l == AVX512 {
		blocksAVX512(v, x, signs, n/128)
		return 64
	}
	blocksAVX2(v, x, signs, n/64)
	return 32
}

func (l Level) hadamardEights(v *int64, h int) {
	if l == AVX512 {
		eightsAVX512(v, h)
	} else {
		eightsAVX2(v, h)
	}
}

// The other kernels wait for memory, and have one form for both levels.

func (l Level) narrow(dst *int16, src *int64, n int) bool { return narrowAVX2(dst, src, n) }

func (l Level) within(x *int64, n int, bound int64) bool { return withinAVX2(x, n, bound) }

func (l Level) addRows(u, x *int64, n, records int, places *uint32, each int, ending *int64, more int) {
	addRowsAVX2(u, x, n, records, places, each, ending, more)
}

func (l Level) squaredNorms(norms *uint64, x *int64, n, records int) bool {
	return squaredNormsAVX2(norms, x, n, records)
}

func (l Level) hadamardTwos(v *int64, h int) { twosAVX2(v, h) }

func (l Level) hadamardGather(y, v *int64, places *int32, n int) { gather(y, v, places, n) }
