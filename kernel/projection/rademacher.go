package projection

import (
	"errors"

	"github.com/cosketch/cosketch/kernel/cpu"
	"github.com/cosketch/cosketch/kernel/projection/kernels"
)

// rademacher has independent random signs (Achlioptas 2003).
//
// Entries: ±1, each with probability 1/2. Scale 1/√K. Integer row norms: ℓ1 = K, ℓ2² = K.
// Variances: Var|zR|² = 2(|z|⁴ − Σz⁴)/K and Var⟨xR, yR⟩ = (|x|²|y|² + ⟨x,y⟩² − 2Σx²y²)/K. A record
// costs K additions for each of its columns, on either side. Sums of entries below 2^b are exact
// for 2^(62−b) records.
//
// Entry i is −1 if bit i of the block's keystream is 1, else +1. Bit i is bit i mod 8, counted from
// the least significant, of byte i/8.
//
// Both sides are one product of 16-bit data and packed signs, see signproduct.go.
type rademacher struct{}

// Rademacher is the family's name.
const Rademacher Family = "rademacher"

func (rademacher) about() About {
	return About{
		Family:  Rademacher,
		Entries: "±1, each as likely",
		Scale:   "1/√k",
		Source:  "Achlioptas 2003",
		Columns: true,
	}
}

// cost counts the bits of rows twice, as they are also held packed.
func (rademacher) cost(s Spec, d int) Cost {
	entries := int64(d) * int64(s.K)
	return Cost{Additions: entries, Bytes: 2 * (entries / 8)}
}

func (rademacher) check(s Spec) error { return noNonZeros(s) }

func (rademacher) norms(s Spec) norms {
	return norms{l1: int64(s.K), l2Squared: int64(s.K), largest: 1}
}

func (rademacher) blank(s Spec) keyedRow {
	return &rademacherRow{k: s.K, signs: make([]byte, (s.K+7)/8)}
}

func (f rademacher) fix(s Spec, source Source, labels [][]byte) ([]row, error) {
	return drawn(f, s, source, labels)
}

// product packs the rows' signs.
func (rademacher) product(s Spec, rows []row) product {
	pairs := (len(rows) + 1) / 2
	p := &signProduct{rows: rows, signs: kernels.Signs{K: s.K, Pairs: pairs, Words: make([]uint64, kernels.Words(s.K, pairs))}}
	stride := (s.K + 7) / 8
	var two []byte
	for j, r := range rows {
		two = append(two, r.(*rademacherRow).signs...)
		if j%2 == 1 || j == len(rows)-1 {
			p.signs.Set(j/2, two, stride)
			two = two[:0]
		}
	}
	return p
}

// rademacherRow holds a row as one bit per sign, and scratch memory for addOuter.
type rademacherRow struct {
	k      int
	block  [64]byte
	signs  []byte
	places []uint32
}

func (r *rademacherRow) draw(source Source, label []byte) {
	r.block = source.Block(label)
	source.Expand(&r.block, r.signs)
}

func (r *rademacherRow) addOuter(u, x []int64) {
	places := grow(&r.places, r.k)
	for i := range places {
		places[i] = kernels.Place(uint32(i), uint32(r.signs[i>>3]>>(i&7)&1))
	}
	kernels.AddRows(cpu.Best(), u, x, len(x), places)
}

func (r *rademacherRow) addScaled(y []int64, c int64) {
	for i := range y {
		minus := -int64(r.signs[i>>3] >> (i & 7) & 1)
		y[i] += (c ^ minus) - minus
	}
}

// noNonZeros returns an error if S is set, for families whose rows are not sparse.
func noNonZeros(s Spec) error {
	if s.S != 0 {
		return errors.New("s belongs to the family sparse only")
	}
	return nil
}
