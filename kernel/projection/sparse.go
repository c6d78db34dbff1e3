package projection

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// maxNonZeros is the number of 64-bit words in a label's block.
const maxNonZeros = 8

// sparse is the block form of the sparse Johnson–Lindenstrauss transform (Kane and
// Nelson 2014); s = 1 is CountSketch (Charikar, Chen, Farach-Colton 2002).
//
// Entries: the K coordinates are s blocks of K/s; a row has one ±1 in each block.
// Scale 1/√s. Integer row norms: ℓ1 = s, ℓ2² = s. Variances, for every s, are
// those of rademacher: Var|zR|² = 2(|z|⁴ − Σz⁴)/K and
// Var⟨xR, yR⟩ = (|x|²|y|² + ⟨x,y⟩² − 2Σx²y²)/K.
//
// Block b takes the b-th little-endian 64-bit word w of the label's block: the
// entry is −1 if the low bit of w is 1 and +1 otherwise; its place in the block is
// the high 64 bits of (w with the low bit cleared) × (K/s). A place's probability
// is off by at most 2^-63 from s/K.
type sparse struct{}

func (sparse) check(s Spec) error {
	switch {
	case s.S < 1 || s.S > maxNonZeros:
		return fmt.Errorf("s must be between 1 and %d", maxNonZeros)
	case s.K%s.S != 0:
		return errors.New("s must divide k")
	}
	return nil
}

func (sparse) norms(s Spec) norms {
	return norms{l1: int64(s.S), l2Squared: int64(s.S), largest: 1}
}

func (sparse) blank(s Spec) keyedRow { return &sparseRow{s: s.S, width: s.K / s.S} }

func (f sparse) fix(s Spec, source Source, labels [][]byte) ([]row, error) {
	return drawn(f, s, source, labels)
}

// sparseRow holds the s non-zero entries of a row.
type sparseRow struct {
	s, width int
	place    [maxNonZeros]int
	sign     [maxNonZeros]int64
}

func (r *sparseRow) draw(source Source, label []byte) {
	block := source.Block(label)
	for b := range r.s {
		w := binary.LittleEndian.Uint64(block[8*b:])
		offset, _ := bits.Mul64(w&^1, uint64(r.width))
		r.place[b] = b*r.width + int(offset)
		r.sign[b] = 1 - 2*int64(w&1)
	}
}

func (r *sparseRow) addOuter(u, x []int64) {
	for b := range r.s {
		at := r.place[b] * len(x)
		target := u[at : at+len(x)]
		if r.sign[b] > 0 {
			addTo(target, x)
		} else {
			subtractFrom(target, x)
		}
	}
}

func (r *sparseRow) addScaled(y []int64, c int64) {
	for b := range r.s {
		y[r.place[b]] += r.sign[b] * c
	}
}

func addTo(u, x []int64) {
	u = u[:len(x)]
	for i, v := range x {
		u[i] += v
	}
}

func subtractFrom(u, x []int64) {
	u = u[:len(x)]
	for i, v := range x {
		u[i] -= v
	}
}
