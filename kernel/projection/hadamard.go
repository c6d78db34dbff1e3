package projection

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// hadamard is the subsampled randomised Hadamard transform (Ailon and Chazelle 2009; Tropp 2011).
// It serves the records side only, as its rows depend on all the columns.
//
// Let d be the number of columns and d' the least power of two ≥ d (HadamardSize). R is K of the d'
// columns of the Hadamard matrix of order d', without repetition; of these it takes the first d
// rows, each with a random sign. Entries: ±1. Scale 1/√K. Integer row norms: ℓ1 = K, ℓ2² = K.
// Variances are those of rademacher times (d' − K)/(d' − 1). They are zero at K = d': the scaled
// rows are then orthonormal, and R is an exact rotation. A record costs d'·log₂ d' additions
// whatever K is; kernels.HadamardProduct makes 8 or 16 of them at once. Limiting the last step to
// the kept columns would not pay, as picking these costs more. Projected rows are exact for
// 2^(62−b) columns of entries below 2^b.
//
// The sign of column j, by its position in the list, is − if the low bit of its label's block is 1,
// else +. The K columns are the first K of a permutation of d', which depends only on d' and the
// permutation's source. Let w_i be the i-th little-endian 64-bit word of the keystream of the block
// of d', as four big-endian bytes. Start from p = (0, …, d'−1). Step i, from 0, exchanges p_i with
// p_(i+t), where t is the high 64 bits of w_i × (d' − i). The probability of a place has a relative
// error of at most 2^-40.
type hadamard struct{}

// Hadamard is the family's name.
const Hadamard Family = "hadamard"

func (hadamard) about() About {
	return About{
		Family:  Hadamard,
		Entries: "±1: k columns of a Hadamard matrix, a random sign for each row",
		Scale:   "1/√k",
		Source:  "Ailon and Chazelle 2009; Tropp 2011",
	}
}

// cost counts the signs and the transform's scratch memory.
func (hadamard) cost(s Spec, d int) Cost {
	size := HadamardSize(d)
	return Cost{Additions: int64(size) * int64(bits.Len(uint(size))-1), Bytes: 16*int64(size) + 8*int64(s.K)}
}

func (hadamard) check(s Spec) error { return noNonZeros(s) }

func (hadamard) norms(s Spec) norms {
	return norms{l1: int64(s.K), l2Squared: int64(s.K), largest: 1}
}

func (hadamard) variance(s Spec, d int) Variance {
	size := float64(HadamardSize(d))
	return Variance{k: float64(s.K), excess: 2, factor: (size - float64(s.K)) / max(size-1, 1)}
}

func (hadamard) blank(Spec) keyedRow { return nil }

// HadamardSize returns d', the least power of two that is at least d. It is the largest K of the
// family hadamard for d columns; d must be positive.
func HadamardSize(d int) int { return 1 << bits.Len(uint(d-1)) }

// FixHadamard is Fix for the family hadamard, which takes the columns of the Hadamard matrix from a
// second source. It returns an error for another family.
func FixHadamard(spec Spec, signs, permutation Source, labels [][]byte) (*Fixed, error) {
	if spec.Family != Hadamard {
		return nil, fmt.Errorf("projection %s: is not of the family %s", spec, Hadamard)
	}
	if signs == nil || permutation == nil {
		return nil, fmt.Errorf("projection %s: %w", spec, errNoSource)
	}
	return Fix(spec, hadamardSource{signs, permutation}, labels)
}

// hadamardSource passes the second source through Fix.
type hadamardSource struct {
	Source
	permutation Source
}

var errOneSource = errors.New("needs a source of its permutation: use FixHadamard")

func (hadamard) fix(s Spec, source Source, labels [][]byte) ([]row, error) {
	sources, ok := source.(hadamardSource)
	if !ok {
		return nil, errOneSource
	}
	size := HadamardSize(len(labels))
	if s.K > size {
		return nil, fmt.Errorf("k must be at most %d, the least power of two that holds %d columns", size, len(labels))
	}
	minus := make([]int64, len(labels))
	for j, label := range labels {
		block := source.Block(label)
		minus[j] = -int64(block[0] & 1)
	}
	t, rows := newTransform(size, permuted(sources.permutation, size, s.K), minus), make([]row, len(labels))
	for j := range rows {
		rows[j] = hadamardRow{t, j}
	}
	return rows, nil
}

// product returns the fast transform that the rows share.
func (hadamard) product(_ Spec, rows []row) product { return rows[0].(hadamardRow).transform }

// permuted returns the first k elements of the keyed permutation of size numbers.
func permuted(source Source, size, k int) []int32 {
	block := source.Block(binary.BigEndian.AppendUint32(nil, uint32(size)))
	words := make([]byte, 8*k)
	source.Expand(&block, words)
	p := make([]int32, size)
	for i := range p {
		p[i] = int32(i)
	}
	for i := range k {
		t, _ := bits.Mul64(binary.LittleEndian.Uint64(words[8*i:]), uint64(size-i))
		j := i + int(t)
		p[i], p[j] = p[j], p[i]
	}
	return p[:k:k]
}

// hadamardRow is the row of the column at a position.
type hadamardRow struct {
	*transform
	column int
}

func (r hadamardRow) addScaled(y []int64, c int64) {
	c = (c ^ r.minus[r.column]) - r.minus[r.column]
	for i, h := range r.keep {
		minus := -int64(bits.OnesCount32(uint32(r.column)&uint32(h)) & 1)
		y[i] += (c ^ minus) - minus
	}
}
