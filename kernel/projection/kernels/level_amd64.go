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
func addRowsAVX2(u, x *int64, n, records int, places *uint32, each int)

func (l Level) signTile(y *int64, yStride int, x *int16, xStride int, signs *uint64, pairs int) {
	if l == AVX512 {
		signTileAVX512(y, yStride, x, xStride, signs, pairs)
	} else {
		signTileAVX2(y, yStride, x, xStride, signs, pairs)
	}
}

// The other kernels wait for memory, and have one form for both levels.

func (l Level) narrow(dst *int16, src *int64, n int) bool { return narrowAVX2(dst, src, n) }

func (l Level) within(x *int64, n int, bound int64) bool { return withinAVX2(x, n, bound) }

func (l Level) addRows(u, x *int64, n, records int, places *uint32, each int) {
	addRowsAVX2(u, x, n, records, places, each)
}
