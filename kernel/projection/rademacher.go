package projection

import "errors"

// rademacher has independent signs (Achlioptas 2003).
//
// Entries: ±1, each with probability 1/2. Scale 1/√K. Integer row norms: ℓ1 = K,
// ℓ2² = K. Variances: Var|zR|² = 2(|z|⁴ − Σz⁴)/K and
// Var⟨xR, yR⟩ = (|x|²|y|² + ⟨x,y⟩² − 2Σx²y²)/K.
//
// Entry i is −1 if bit i of the block's keystream is 1 and +1 otherwise; bit i is
// bit i mod 8, counted from the least significant, of byte i/8.
type rademacher struct{}

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

// rademacherRow holds a row as a bit for each sign, and scratch of addOuter.
type rademacherRow struct {
	k       int
	block   [64]byte
	signs   []byte
	negated []int64
}

func (r *rademacherRow) draw(source Source, label []byte) {
	r.block = source.Block(label)
	source.Expand(&r.block, r.signs)
}

func (r *rademacherRow) addOuter(u, x []int64) {
	n := len(x)
	r.negated = append(r.negated[:0], x...)
	for i, v := range r.negated {
		r.negated[i] = -v
	}
	signed := [2][]int64{x, r.negated}
	for i := range r.k {
		bit := r.signs[i>>3] >> (i & 7) & 1
		addTo(u[i*n:(i+1)*n], signed[bit])
	}
}

func (r *rademacherRow) addScaled(y []int64, c int64) {
	for i := range y {
		minus := -int64(r.signs[i>>3] >> (i & 7) & 1)
		y[i] += (c ^ minus) - minus
	}
}

// noNonZeros refuses an S on families whose rows are not sparse.
func noNonZeros(s Spec) error {
	if s.S != 0 {
		return errors.New("s belongs to the family sparse only")
	}
	return nil
}
