package projection

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/cosketch/cosketch/kernel/cpu"
	"github.com/cosketch/cosketch/kernel/projection/kernels"
)

// maxNonZeros is the number of 64-bit words in a label's block.
const maxNonZeros = 8

// sparse is the block form of the sparse Johnson–Lindenstrauss transform (Kane and Nelson 2014); s
// = 1 is CountSketch (Charikar, Chen, Farach-Colton 2002).
//
// Entries: the K coordinates are s blocks of K/s; a row has one ±1 in each block. Scale 1/√s.
// Integer row norms: ℓ1 = s, ℓ2² = s. For every s the variances equal those of rademacher: Var|zR|²
// = 2(|z|⁴ − Σz⁴)/K and Var⟨xR, yR⟩ = (|x|²|y|² + ⟨x,y⟩² − 2Σx²y²)/K. A record costs s additions
// for each of its columns, on either side. Sums of entries below 2^b are exact for 2^(62−b)
// records.
//
// Block b takes the b-th little-endian 64-bit word w of the label's block. The entry is −1 if the
// low bit of w is 1, else +1. Its place in the block is the high 64 bits of (w with the low bit
// cleared) × (K/s). The probability of a place differs from s/K by at most 2^-63.
type sparse struct{}

// Sparse is the family's name.
const Sparse Family = "sparse"

func (sparse) about() About {
	return About{
		Family:  Sparse,
		Entries: "s of ±1, one in each block of k/s, otherwise 0",
		Scale:   "1/√s",
		Source:  "Charikar, Chen and Farach-Colton 2002; Kane and Nelson 2014",
		Columns: true,
	}
}

func (sparse) cost(s Spec, d int) Cost {
	entries := int64(d) * int64(min(s.S, maxNonZeros))
	return Cost{Additions: entries, Bytes: 4*entries + 4*maxNonZeros*int64(d)}
}

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

// product lists the places of all rows, in order.
func (sparse) product(s Spec, rows []row) product {
	p := &sparseProduct{k: s.K, s: s.S}
	for _, r := range rows {
		p.places = append(p.places, r.(*sparseRow).places[:s.S]...)
	}
	return p
}

// sparseProduct is a fixed sparse matrix: s places for each of its rows.
type sparseProduct struct {
	k, s   int
	places []uint32
}

func (p *sparseProduct) multiply(y, x []int64, _ *scratch) {
	clear(y)
	d := len(p.places) / p.s
	for i := range len(x) / d {
		out := y[i*p.k:][:p.k]
		for j, c := range x[i*d:][:d] {
			for _, place := range p.places[j*p.s:][:p.s] {
				minus := -int64(place & 1)
				out[place>>1] += (c ^ minus) - minus
			}
		}
	}
}

// sparseRow holds the s non-zero entries of a row, as kernels.Place encodes them.
type sparseRow struct {
	s, width int
	places   [maxNonZeros]uint32
}

func (r *sparseRow) draw(source Source, label []byte) {
	block := source.Block(label)
	r.place(r.places[:r.s], &block)
}

// place writes the s places of the row of a label's block.
func (r *sparseRow) place(places []uint32, block *[64]byte) {
	for b := range places {
		w := binary.LittleEndian.Uint64(block[8*b:])
		offset, _ := bits.Mul64(w&^1, uint64(r.width))
		places[b] = kernels.Place(uint32(b*r.width+int(offset)), uint32(w&1))
	}
}

func (r *sparseRow) addOuter(u, x []int64) {
	kernels.AddRows(cpu.Best(), u, x, len(x), r.places[:r.s])
}

func (r *sparseRow) addOuters(u []int64, source Source, labels [][]byte, x []int64, s *scratch) {
	r.addEnded(u, source, labels, x, nil, s)
}

// addEnded draws the places of a few hundred records before it adds them, so that the cache misses
// of the sums overlap.
func (r *sparseRow) addEnded(u []int64, source Source, labels [][]byte, x, ending []int64, s *scratch) {
	const few = 256
	n := len(x) / len(labels)
	for from := 0; from < len(labels); from += few {
		to := min(from+few, len(labels))
		blocks := grow(&s.blocks, to-from)
		blocksOf(source, blocks, labels[from:to])
		places := grow(&s.places, len(blocks)*r.s)
		for i := range blocks {
			r.place(places[i*r.s:][:r.s], &blocks[i])
		}
		kernels.AddRows(s.level, u, x[from*n:to*n], n, places, ending...)
	}
}

func (r *sparseRow) addScaled(y []int64, c int64) {
	for _, place := range r.places[:r.s] {
		minus := -int64(place & 1)
		y[place>>1] += (c ^ minus) - minus
	}
}
