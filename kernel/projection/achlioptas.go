package projection

import (
	"math"

	"github.com/cosketch/cosketch/kernel/cpu"
	"github.com/cosketch/cosketch/kernel/projection/kernels"
)

// achlioptas has entries of which two thirds are zero (Achlioptas 2003).
//
// Entries: +1, 0 and −1 with probability 1/6, 2/3 and 1/6, independent. Scale √(3/K). Integer row
// norms: ℓ1 = ℓ2² = the number of non-zeros, about K/3 and at most K; the sensitivity is K. So
// noise is √3 times that of rademacher. The projection error is larger too, as scaled entries have
// the fourth moment of Gaussian ones: Var|zR|² = 2|z|⁴/K and Var⟨xR, yR⟩ = (|x|²|y|² + ⟨x,y⟩²)/K.
// The gain is speed: a record costs about K/3 additions for each column of a columns-side sketch.
// Sums of entries below 2^b are exact for 2^(62−b) records.
//
// The bytes of the block's keystream give the entries in order: +1 below 42, −1 below 84, 0 below
// 252; the four larger values are skipped.
type achlioptas struct{}

// Achlioptas is the family's name.
const Achlioptas Family = "achlioptas"

func (achlioptas) about() About {
	return About{
		Family:  Achlioptas,
		Entries: "+1, 0 and −1 with probability 1/6, 2/3 and 1/6",
		Scale:   "√(3/k)",
		Source:  "Achlioptas 2003",
		Columns: true,
	}
}

// cost counts a third of the entries as places of four bytes, plus the two sign matrices of the
// product.
func (achlioptas) cost(s Spec, d int) Cost {
	entries := int64(d) * int64(s.K)
	return Cost{Additions: entries / 3, Bytes: entries/3*4 + 4*(entries/8)}
}

func (achlioptas) check(s Spec) error { return noNonZeros(s) }

func (achlioptas) norms(s Spec) norms {
	return norms{l1: int64(s.K), l2Squared: int64(s.K), largest: 1}
}

func (achlioptas) scale(s Spec) float64 { return math.Sqrt(3 / float64(s.K)) }

func (achlioptas) variance(s Spec, _ int) Variance { return Variance{k: float64(s.K), factor: 1} }

func (achlioptas) blank(s Spec) keyedRow { return &achlioptasRow{k: s.K} }

// fix draws all rows with one scratch row and keeps a copy of the non-zeros of each.
func (achlioptas) fix(s Spec, source Source, labels [][]byte) ([]row, error) {
	if source == nil {
		return nil, errNoSource
	}
	rows, drawn := make([]row, len(labels)), &achlioptasRow{k: s.K}
	for j, label := range labels {
		drawn.draw(source, label)
		rows[j] = &achlioptasRow{k: s.K, places: append([]uint32(nil), drawn.places...)}
	}
	return rows, nil
}

// product writes R as half the sum of two sign matrices, which agree where R is ±1 and differ where
// R is 0. Two fast products take less time than many scattered additions.
func (achlioptas) product(s Spec, rows []row) product {
	first, second := make([]row, len(rows)), make([]row, len(rows))
	for j, r := range rows {
		a, b := make([]byte, (s.K+7)/8), make([]byte, (s.K+7)/8)
		for i := range b {
			b[i] = 0xff
		}
		for _, p := range r.(*achlioptasRow).places {
			at, bit, minus := p>>4, byte(1)<<(p>>1&7), -byte(p&1)
			a[at] |= bit & minus
			b[at] &^= bit &^ minus
		}
		first[j], second[j] = &rademacherRow{k: s.K, signs: a}, &rademacherRow{k: s.K, signs: b}
	}
	return halfSum{rademacher{}.product(s, first), rademacher{}.product(s, second), s.K, len(rows)}
}

// halfSum is half the sum of two matrices. All entries of the sum are even.
type halfSum struct {
	first, second product
	k, d          int
}

func (p halfSum) multiply(y, x []int64, s *scratch) {
	most := max(chunk/p.d, 1)
	for m := len(x) / p.d; m > 0; m = len(x) / p.d {
		m = min(m, most)
		sums, other := y[:m*p.k], grow(&s.numbers, m*p.k)
		p.first.multiply(sums, x[:m*p.d], s)
		p.second.multiply(other, x[:m*p.d], s)
		for i, v := range other {
			sums[i] = (sums[i] + v) >> 1
		}
		y, x = y[m*p.k:], x[m*p.d:]
	}
}

// achlioptasRow holds the places and signs of a row's non-zeros, as kernels.Place encodes them, and
// scratch memory for draw.
type achlioptasRow struct {
	k      int
	places []uint32
	block  [64]byte
	bytes  []byte
}

func (r *achlioptasRow) draw(source Source, label []byte) {
	r.block = source.Block(label)
	if r.bytes == nil {
		r.bytes = make([]byte, r.k+r.k/32+32) // the reserve is twice the expected number of skipped bytes
		r.places = make([]uint32, r.k)
	}
	for {
		source.Expand(&r.block, r.bytes)
		if r.take() {
			return
		}
		r.bytes = make([]byte, 2*len(r.bytes)) // a longer part of the same keystream
	}
}

// take reads the K entries off the keystream. It reports false if the keystream is too short. It
// writes every place and advances only for non-zeros, as a branch would often be mispredicted.
func (r *achlioptasRow) take() bool {
	places := r.places[:r.k]
	i, n := 0, 0
	for _, b := range r.bytes {
		if b >= 252 {
			continue
		}
		negative := uint32(0)
		if b >= 42 {
			negative = 1
		}
		places[n] = kernels.Place(uint32(i), negative)
		if b < 84 {
			n++
		}
		if i++; i == r.k {
			r.places = places[:n]
			return true
		}
	}
	return false
}

func (r *achlioptasRow) addOuter(u, x []int64) {
	kernels.AddRows(cpu.Best(), u, x, len(x), r.places)
}

func (r *achlioptasRow) addScaled(y []int64, c int64) {
	for _, p := range r.places {
		minus := -int64(p & 1)
		y[p>>1] += (c ^ minus) - minus
	}
}
