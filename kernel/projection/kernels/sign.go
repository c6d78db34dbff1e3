package kernels

import (
	"encoding/binary"
	"fmt"

	"github.com/cosketch/cosketch/kernel/cpu"
)

// SignProduct works in tiles of tileRows × PanelWidth sums, which stay in registers while the tile
// is computed.
const (
	tileRows   = 4
	PanelWidth = 64
)

// blockPairs is the number of pairs of entries that are summed in 32 bits before the sum is widened
// to 64. A pair is at most 2 × 32768 in absolute value, so a block is at most 2^30.
const blockPairs = 1 << 14

// Signs is a matrix of signs with K columns, packed for SignProduct: its rows in pairs, its columns
// in panels of PanelWidth. Panel c is a run of two words for each pair of rows. Bit 2i+b of word h
// is 1 if the entry in row b of the pair and column 64c + 32h + i is −1. Bits beyond the last row
// or column are ignored.
type Signs struct {
	K     int // columns
	Pairs int // pairs of rows
	Words []uint64
}

func Words(k, pairs int) int { return panels(k) * pairs * 2 }

// PaddedRows returns the number of rows that SignProduct expects memory for: m, rounded up to whole
// tiles.
func PaddedRows(m int) int { return (m + tileRows - 1) / tileRows * tileRows }

func panels(k int) int { return (k + PanelWidth - 1) / PanelWidth }

// Set packs rows from pair number pair on. Each stride bytes of rows hold one row: one bit per
// column, lowest bit of the first byte first, 1 meaning −1. If the number of rows is odd, the last
// row is paired with itself.
func (s Signs) Set(pair int, rows []byte, stride int) {
	if len(rows)%stride != 0 || stride < (s.K+7)/8 {
		panic(fmt.Sprintf("kernels: packing rows of %d bytes from %d, for %d columns", stride, len(rows), s.K))
	}
	pairs := (len(rows)/stride + 1) / 2
	for c := range panels(s.K) {
		at := c * PanelWidth / 8
		words := s.Words[(c*s.Pairs+pair)*2:][:2*pairs]
		for p := range pairs {
			even := rows[2*p*stride:][:stride]
			odd := rows[min((2*p+1)*stride, len(rows)-stride):][:stride]
			e, o := word(even, at), word(odd, at)
			words[2*p] = spread(uint32(e)) | spread(uint32(o))<<1
			words[2*p+1] = spread(uint32(e>>32)) | spread(uint32(o>>32))<<1
		}
	}
}

// Panel returns panel c as a matrix of its own.
func (s Signs) Panel(c int) Signs {
	return Signs{K: min(PanelWidth, s.K-c*PanelWidth), Pairs: s.Pairs, Words: s.Words[c*s.Pairs*2:][:s.Pairs*2]}
}

// word reads eight bytes from index at on, little-endian; bytes beyond the end count as 0.
func word(b []byte, at int) uint64 {
	if at+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[at:])
	}
	var last [8]byte
	copy(last[:], b[at:])
	return binary.LittleEndian.Uint64(last[:])
}

// spread moves bit i of v to bit 2i.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	return (x | x<<1) & 0x5555555555555555
}

// SignProduct adds X·S to y, m × K row-major, where x is X with int16 entries, PaddedRows(m) ×
// 2·Pairs row-major. Rows beyond m are ignored. If the number of rows of S is odd, the last column
// of X must be zero.
func SignProduct(l cpu.Level, y []int64, x []int16, m int, s Signs) {
	if m < 0 || len(y) != m*s.K || len(x) != PaddedRows(m)*2*s.Pairs || len(s.Words) != Words(s.K, s.Pairs) {
		panic(fmt.Sprintf("kernels: sign product of %d × %d and %d × %d with slices of %d, %d and %d", m, 2*s.Pairs, 2*s.Pairs, s.K, len(y), len(x), len(s.Words)))
	}
	if m == 0 || s.K == 0 || s.Pairs == 0 {
		return
	}
	for c := range panels(s.K) {
		panel, width := s.Panel(c).Words, s.Panel(c).K
		for i := 0; i < m; i += tileRows {
			rows := x[i*2*s.Pairs:][:tileRows*2*s.Pairs]
			target := y[i*s.K+c*PanelWidth:]
			if width == PanelWidth && m-i >= tileRows {
				tile(l, target[:(tileRows-1)*s.K+PanelWidth], s.K, rows, panel)
			} else {
				edge(l, target, s.K, min(tileRows, m-i), width, rows, panel)
			}
		}
	}
}

// edge adds only the first m × width sums of a tile.
func edge(l cpu.Level, y []int64, stride, m, width int, rows []int16, panel []uint64) {
	var whole [tileRows * PanelWidth]int64
	tile(l, whole[:], PanelWidth, rows, panel)
	for r := range m {
		for i, v := range whole[r*PanelWidth:][:width] {
			y[r*stride+i] += v
		}
	}
}

// tile adds tileRows rows of x times a panel to y, whose rows are stride apart.
func tile(l cpu.Level, y []int64, stride int, x []int16, panel []uint64) {
	if l == cpu.Go {
		signTileGo(y, stride, x, panel)
		return
	}
	pairs := len(panel) / 2
	for from := 0; from < pairs; from += blockPairs {
		signTile(l, &y[0], stride, &x[2*from], 2*pairs, &panel[2*from], min(blockPairs, pairs-from))
	}
}

// signTileGo computes a tile in Go. For each pair of entries, two bits select one of the four
// signed sums.
func signTileGo(y []int64, stride int, x []int16, panel []uint64) {
	pairs := len(panel) / 2
	for r := range tileRows {
		var sums [PanelWidth]int64
		row := x[r*2*pairs:][:2*pairs]
		for p := 0; p+1 < len(row) && p+1 < len(panel); p += 2 {
			a, b := int64(row[p]), int64(row[p+1])
			signed := [4]int64{a + b, b - a, a - b, -a - b}
			low, high := panel[p], panel[p+1]
			for i := range PanelWidth / 2 {
				sums[i] += signed[low>>(2*i)&3]
				sums[i+PanelWidth/2] += signed[high>>(2*i)&3]
			}
		}
		out := y[r*stride:][:PanelWidth]
		for i, v := range sums {
			out[i] += v
		}
	}
}
