package dp

import (
	"fmt"
	"math"
)

// RowNorms are the norms of one row of the unscaled integer matrix R. They are equal for all rows
// of most families: sparse (S, S), rademacher and hadamard (K, K), identity (1, 1). If rows differ,
// they are the norms of the longest possible row: achlioptas (K, K).
type RowNorms struct {
	L1        int64
	L2Squared int64
}

// Sensitivity bounds how far one change of the data (see Unit) can move an unscaled integer sketch,
// over all its entries together. Both norms are exact integers, in the units of the sketch's
// entries.
type Sensitivity struct {
	L1        int64
	L2Squared int64
}

func (s Sensitivity) String() string {
	return fmt.Sprintf("l1 %d, l2 %.6g", s.L1, math.Sqrt(float64(s.L2Squared)))
}

// AttributeColumns returns the sensitivity of a columns-side sketch R·X when one value of one
// record changes. deltas bound the changes of the record's derived entries that depend on the
// value: c for a numeric value, and the change of its square if that is sketched too; c twice for a
// categorical one, whose old one-hot entry falls and whose new one rises. The sketch moves by the
// outer product of the record's row r and deltas: |r|₁·Σ|δ| in l1, |r|₂²·Σδ² in l2 squared, both
// attained.
func AttributeColumns(row RowNorms, deltas []int64) (Sensitivity, error) {
	sum, squares, err := norms(deltas)
	if err != nil {
		return Sensitivity{}, err
	}
	return scaled(row, sum, squares)
}

// AttributeRecords returns the sensitivity of a records-side sketch X·R when one value of one
// record changes, with deltas as in AttributeColumns. The record's sketch moves by Σ δⱼrⱼ: at most
// |r|₁·Σ|δ| in l1 and |r|₂·Σ|δ| in l2, the latter attained when rows collide. If the rows are
// orthogonal (identity, and hadamard that keeps all of its columns) the l2 norm squared is
// |r|₂²·Σδ².
func AttributeRecords(row RowNorms, deltas []int64, orthogonalRows bool) (Sensitivity, error) {
	sum, squares, err := norms(deltas)
	if err != nil {
		return Sensitivity{}, err
	}
	if !orthogonalRows {
		if squares, err = product(sum, sum); err != nil {
			return Sensitivity{}, fmt.Errorf("sensitivity of a change by %d: %w", sum, err)
		}
	}
	return scaled(row, sum, squares)
}

// RecordColumns returns the sensitivity of a columns-side sketch R·X when zeros replace one
// record's contribution. The record's derived vector of the given number of entries was clipped to
// l2 norm ≤ clip before projection (ClipL2; see Beside for entries that are not clipped). The
// sketch moves by the outer product of the row r and that vector, |r|₂²·clip² in l2 squared and
// |r|₁·⌊clip·√entries⌋ in l1. Replacing a record by another one doubles both norms (Replacing).
func RecordColumns(row RowNorms, clip int64, entries int) (Sensitivity, error) {
	s, err := RecordRecords(clip, entries)
	if err != nil {
		return Sensitivity{}, err
	}
	return scaled(row, s.L1, s.L2Squared)
}

// RecordColumnsCounted is RecordColumns for a sketch with one further entry, which counts clipped
// records: each record moves it by at most weight. With a weight of 0 there is no such entry.
func RecordColumnsCounted(row RowNorms, clip int64, entries int, weight int64) (Sensitivity, error) {
	s, err := RecordColumns(row, clip, entries)
	if err != nil {
		return Sensitivity{}, err
	}
	square, err := product(weight, weight)
	if err != nil || s.L1 > math.MaxInt64-weight || s.L2Squared > math.MaxInt64-square {
		return Sensitivity{}, fmt.Errorf("sensitivity %v beside a count of weight %d: %w", s, weight, errOverflow)
	}
	return Sensitivity{L1: s.L1 + weight, L2Squared: s.L2Squared + square}, nil
}

// RecordRecords returns the sensitivity of a records-side sketch X·R when zeros replace one
// record's sketch of k entries, clipped to l2 norm ≤ clip after projection (ClipL2): clip in l2 and
// ⌊clip·√k⌋ in l1, whatever R and the data are. Replacing a record by another one doubles both
// norms (Replacing).
func RecordRecords(clip int64, k int) (Sensitivity, error) {
	square, err := product(clip, clip)
	if err != nil || k < 1 {
		return Sensitivity{}, fmt.Errorf("sensitivity of %d entries clipped to %d: want at least one entry and a clip of 0 to 2^31", k, clip)
	}
	// Cauchy and Schwarz; an integer vector's l1 norm is an integer, hence the floor.
	l1 := multiply(uint64(square), uint64(k)).root() // both factors are below 2^63
	return Sensitivity{L1: int64(l1), L2Squared: square}, nil
}

// Replacing returns the sensitivity when another record's contribution replaces one record's, given
// the sensitivity to a replacement by zeros. Going by way of zeros doubles both norms; opposite
// contributions attain it.
func (s Sensitivity) Replacing() (Sensitivity, error) {
	l1, err1 := product(2, s.L1)
	l2, err2 := product(4, s.L2Squared)
	if err1 != nil || err2 != nil {
		return Sensitivity{}, fmt.Errorf("sensitivity %v, doubled: %w", s, errOverflow)
	}
	return Sensitivity{L1: l1, L2Squared: l2}, nil
}

// Max returns the larger of each norm: the sensitivity when the change may be any of those
// described, such as of a value in any of several columns. Without arguments it is zero.
func Max(of ...Sensitivity) Sensitivity {
	var m Sensitivity
	for _, s := range of {
		m.L1 = max(m.L1, s.L1)
		m.L2Squared = max(m.L2Squared, s.L2Squared)
	}
	return m
}

// norms returns Σ|δ| and Σδ².
func norms(deltas []int64) (sum, squares int64, err error) {
	for _, d := range deltas {
		m := magnitude(d)
		if m > math.MaxInt32 {
			return 0, 0, fmt.Errorf("sensitivity: a change by %d is out of range, at most %d", d, math.MaxInt32)
		}
		sum += int64(m)
		squares += int64(m) * int64(m)
		if sum < 0 || squares < 0 {
			return 0, 0, fmt.Errorf("sensitivity of %d changes: %w", len(deltas), errOverflow)
		}
	}
	return sum, squares, nil
}

// scaled multiplies the norms of a change by the norms of a row.
func scaled(row RowNorms, l1, l2Squared int64) (Sensitivity, error) {
	d1, err1 := product(row.L1, l1)
	d2, err2 := product(row.L2Squared, l2Squared)
	if err1 != nil || err2 != nil {
		return Sensitivity{}, fmt.Errorf("sensitivity of a change with norms %d and √%d times a row with norms %d and √%d: %w",
			l1, l2Squared, row.L1, row.L2Squared, errOverflow)
	}
	return Sensitivity{L1: d1, L2Squared: d2}, nil
}
