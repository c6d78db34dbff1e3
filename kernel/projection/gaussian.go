package projection

import (
	"encoding/binary"
	"math"
)

// gaussian has normally distributed entries (Johnson and Lindenstrauss 1984; Liu, Kargupta and Ryan
// 2006, whose σ_r cancels).
//
// Entries: round(4096·N(0,1)), independent, cut at ±32767, eight standard deviations. Scale
// 1/(4096·√K). Rounding makes E[⟨xR, yR⟩] too large by 1 part in 2·10^8, far below any error of a
// sketch. Variances: Var|zR|² = 2|z|⁴/K and Var⟨xR, yR⟩ = (|x|²|y|² + ⟨x,y⟩²)/K. Integer row norms:
// ℓ1 ≤ 32767·K and ℓ2² ≤ 32767²·K. Rows have an ℓ2 norm of about 4096·√K, so this bound is eight
// times too large: choose another family if noise is added. A record costs K multiplications for
// each of its columns. Sums of entries below 2^b are exact for 2^(47−b) records.
//
// Entry i takes the i-th little-endian 64-bit word of the block's keystream. It is negative if the
// low bit is 1. The other 63 bits u give the magnitude: the number of j from 1 to 32767 with
// 2^63·P(|N(0,1)| < (j − 1/2)/4096) ≤ u, the left side rounded. Each probability is off by at most
// 2^-63.
type gaussian struct{}

// Gaussian is the family's name.
const Gaussian Family = "gaussian"

func (gaussian) about() About {
	return About{
		Family:  Gaussian,
		Entries: "round(4096·N(0,1)), of 16 bits",
		Scale:   "1/(4096·√k)",
		Source:  "Johnson and Lindenstrauss 1984; Liu, Kargupta and Ryan 2006",
		Columns: true,
	}
}

// cost counts a multiplication and an addition as one.
func (gaussian) cost(s Spec, d int) Cost {
	entries := int64(d) * int64(s.K)
	return Cost{Additions: entries, Bytes: 2 * entries}
}

const (
	gaussianUnit    = 1 << 12   // one standard deviation
	gaussianLargest = 1<<15 - 1 // largest magnitude of an entry
	gaussianWord    = 8         // bytes of keystream for an entry
	guideBits       = 15        // high bits of u that index the guide
	guideShift      = 63 - guideBits
	guideBytes      = 2 * (1<<guideBits + 1)
)

func (gaussian) check(s Spec) error { return noNonZeros(s) }

func (gaussian) norms(s Spec) norms {
	return norms{
		l1:        gaussianLargest * int64(s.K),
		l2Squared: gaussianLargest * gaussianLargest * int64(s.K),
		largest:   gaussianLargest,
	}
}

func (gaussian) scale(s Spec) float64 { return 1 / (gaussianUnit * math.Sqrt(float64(s.K))) }

func (gaussian) variance(s Spec, _ int) Variance { return Variance{k: float64(s.K), factor: 1} }

func (gaussian) blank(s Spec) keyedRow { return &gaussianRow{entries: make([]int16, s.K)} }

// fix draws all rows with one scratch row, into one array.
func (gaussian) fix(s Spec, source Source, labels [][]byte) ([]row, error) {
	if source == nil {
		return nil, errNoSource
	}
	rows, drawn := make([]row, len(labels)), gaussianRow{words: make([]byte, gaussianWord*s.K)}
	all := make([]int16, len(labels)*s.K)
	for j, label := range labels {
		drawn.entries = all[j*s.K:][:s.K]
		drawn.draw(source, label)
		rows[j] = &gaussianRow{entries: drawn.entries}
	}
	return rows, nil
}

// product uses the array of all rows, which starts at the first row.
func (gaussian) product(s Spec, rows []row) product {
	return gaussianProduct{k: s.K, d: len(rows), entries: rows[0].(*gaussianRow).entries[:len(rows)*s.K]}
}

// gaussianProduct is a fixed matrix, d × k row-major.
type gaussianProduct struct {
	k, d    int
	entries []int16
}

// multiply takes four rows at a time, which reads and writes each sum a fourth as often.
func (p gaussianProduct) multiply(y, x []int64, _ *scratch) {
	clear(y)
	for i := range len(x) / p.d {
		sums, record, entries := y[i*p.k:][:p.k], x[i*p.d:][:p.d], p.entries
		for ; len(record) >= 4; record, entries = record[4:], entries[4*p.k:] {
			c0, c1, c2, c3 := record[0], record[1], record[2], record[3]
			e0, e1 := entries[:p.k][:len(sums)], entries[p.k:][:len(sums)]
			e2, e3 := entries[2*p.k:][:len(sums)], entries[3*p.k:][:len(sums)]
			for j := range sums {
				sums[j] += c0*int64(e0[j]) + c1*int64(e1[j]) + c2*int64(e2[j]) + c3*int64(e3[j])
			}
		}
		for ; len(record) > 0; record, entries = record[1:], entries[p.k:] {
			addMultiple(sums, entries[:p.k], record[0])
		}
	}
}

// addMultiple adds c·e to y.
func addMultiple(y []int64, e []int16, c int64) {
	y = y[:len(e)]
	for i, v := range e {
		y[i] += c * int64(v)
	}
}

// gaussianRow holds the entries of a row, and scratch memory for draw.
type gaussianRow struct {
	entries []int16
	block   [64]byte
	words   []byte
}

func (r *gaussianRow) draw(source Source, label []byte) {
	if r.words == nil {
		r.words = make([]byte, gaussianWord*len(r.entries))
	}
	r.block = source.Block(label)
	source.Expand(&r.block, r.words)
	for i := range r.entries {
		w := binary.LittleEndian.Uint64(r.words[gaussianWord*i:])
		minus := -int16(w & 1)
		r.entries[i] = (int16(magnitude(w>>1)) ^ minus) - minus
	}
}

func (r *gaussianRow) addOuter(u, x []int64) {
	n := len(x)
	for i, e := range r.entries {
		target := u[i*n : (i+1)*n]
		for j, v := range x {
			target[j] += int64(e) * v
		}
	}
}

func (r *gaussianRow) addScaled(y []int64, c int64) { addMultiple(y, r.entries, c) }
