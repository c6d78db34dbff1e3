package projection

import "fmt"

// identity does not project. It is for data with at most as many columns as the best K.
//
// Entries: row j is the j-th unit vector, so K is the number of columns. Scale 1. Integer row
// norms: ℓ1 = 1, ℓ2² = 1. Variance 0. A record is copied. Its rows use neither labels nor
// randomness; it serves the records side only.
type identity struct{}

// Identity is the family's name.
const Identity Family = "identity"

func (identity) about() About {
	return About{
		Family:  Identity,
		Entries: "1 at the column, otherwise 0: no projection",
		Scale:   "1",
		Source:  "none",
	}
}

func (identity) cost(_ Spec, d int) Cost { return Cost{Additions: int64(d), Bytes: 24 * int64(d)} }

func (identity) check(s Spec) error { return noNonZeros(s) }

func (identity) norms(Spec) norms { return norms{l1: 1, l2Squared: 1, largest: 1} }

func (identity) variance(s Spec, _ int) Variance { return Variance{k: float64(s.K)} }

func (identity) blank(Spec) keyedRow { return nil }

func (identity) fix(s Spec, _ Source, labels [][]byte) ([]row, error) {
	if s.K != len(labels) {
		return nil, fmt.Errorf("k must be the number of columns, %d", len(labels))
	}
	rows := make([]row, s.K)
	for j := range rows {
		rows[j] = unitRow(j)
	}
	return rows, nil
}

// unitRow is the unit vector with this index.
type unitRow int

func (r unitRow) addScaled(y []int64, c int64) { y[r] += c }
