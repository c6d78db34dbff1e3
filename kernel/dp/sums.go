package dp

import (
	"errors"
	"fmt"
)

// Neighbours says what a record's contribution becomes under unit record.
type Neighbours int

// What neighbouring data sets may differ in.
const (
	Zeroed   Neighbours = iota // the contribution is replaced by zeros
	Replaced                   // or by that of any other record
)

// RecordCells is the sensitivity of a cells sketch when one record's contribution
// changes, records of d entries having been clipped to l2 norm ≤ clip (ClipL2): a record x
// adds (weight, x) to the row of its cell, so that replaced by zeros it takes
// weight² + clip² in l2 squared away, attained by every record of that length. Replaced
// by another record, it moves two rows so, which makes twice as much, or one row in which
// the weight stays and the entries move by 2·clip at most: 4·clip².
func RecordCells(clip int64, d int, weight int64, n Neighbours) (Sensitivity, error) {
	if clip < 1 || weight < 1 || d < 1 {
		return Sensitivity{}, fmt.Errorf("sensitivity of cells of %d columns clipped to %d with weight %d: want all above 0", d, clip, weight)
	}
	square, err1 := product(clip, clip)
	count, err2 := product(weight, weight)
	l2, err3 := sum(square, count)
	entries := 1 + d
	if n == Replaced && errors.Join(err1, err2, err3) == nil {
		var same int64
		l2, err1 = sum(l2, l2)
		same, err2 = product(4, square)
		l2, entries = max(l2, same), 2*entries
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return Sensitivity{}, fmt.Errorf("sensitivity of cells clipped to %d: %w", clip, errOverflow)
	}
	return spread(l2, entries), nil
}

// spread is the sensitivity of a change of that length over so many entries.
func spread(l2Squared int64, entries int) Sensitivity {
	return Sensitivity{L1: int64(multiply(uint64(l2Squared), uint64(entries)).root()), L2Squared: l2Squared}
}

// sum adds, refusing what int64 does not hold; the terms are not negative.
func sum(terms ...int64) (total int64, err error) {
	for _, t := range terms {
		if total += t; total < 0 {
			return 0, errOverflow
		}
	}
	return total, nil
}
